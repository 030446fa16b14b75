package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-capi/slipway/core/render"
	"github.com/slipway-capi/slipway/internal/classtest"
	"github.com/slipway-capi/slipway/internal/manifests"
	"github.com/slipway-capi/slipway/internal/plane"
)

func newClass(o *options) *cobra.Command {
	class := group("class", "Render and test ClusterClasses without a management cluster")
	class.AddCommand(newClassRender(o), newClassTest(o))
	return class
}

func newClassRender(o *options) *cobra.Command {
	var files []string
	var output string
	var skipExternal bool
	cmd := &cobra.Command{
		Use:   "render -f FILE...",
		Short: "Print the objects that a Cluster of a class would get",
		Long: "Prints the Cluster, with the defaults of its variables, and all objects that the topology controller would make for it when it is new.\n" +
			"It needs no management cluster: the files hold the class, its templates and one Cluster. Class, variables, patches and the objects\n" +
			"that come out are judged as a management cluster would; CustomResourceDefinitions of templates that Slipway does not bring along can\n" +
			"be among the files. Names end in " + render.Suffix + " where a management cluster has other characters. Warnings go to standard error.",
		Example: "  slipway class render -f class.yaml -f cluster.yaml\n" +
			"  slipway class render -f docs/quickstart/docker-clusterclass.yaml -o json | jq '.items[].kind'\n" +
			"  kubectl get clusterclass,kubeadmcontrolplanetemplate -o yaml | slipway class render -f - -f cluster.yaml",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			objects, err := readAll(cmd.InOrStdin(), files)
			if err != nil {
				return err
			}
			cluster, err := classtest.ClusterAmong(objects)
			if err != nil {
				return err
			}
			renderer, err := newRenderer(objects)
			if err != nil {
				return err
			}
			result, err := renderer.Render(cmd.Context(), render.Request{Cluster: cluster, Objects: objects, SkipExternal: skipExternal})
			if err != nil {
				return err
			}
			for _, warning := range result.Warnings {
				fmt.Fprintf(o.err, "Warning: %s\n", warning)
			}
			return printObjects(o.out, result.Objects, output)
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "files with the class, its templates and the Cluster; - is standard input")
	addFormats(cmd, &output, "yaml", "json")
	cmd.Flags().BoolVar(&skipExternal, "skip-external", false, "leave out patches by extensions, which are not asked")
	_ = cmd.MarkFlagRequired("filename")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml")
	return cmd
}

func newClassTest(o *options) *cobra.Command {
	var output string
	var update bool
	cmd := &cobra.Command{
		Use:   "test DIR|FILE...",
		Short: "Run the tests that lie beside classes",
		Long: "Runs every " + classtest.Kind + " (apiVersion " + classtest.APIVersion + ") of the files and folders: each of its cases renders a Cluster and compares the\n" +
			"objects with what is expected, with a golden file, or the error with the expected one. Ends with 1 if a case fails.",
		Example: "  slipway class test docs/quickstart\n" +
			"  slipway class test docs/quickstart/docker-clusterclass.test.yaml --update   # write the golden files\n" +
			"  slipway class test . -o json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tests, err := classtest.Find(args)
			if err != nil {
				return err
			}
			known, err := plane.Definitions()
			if err != nil {
				return err
			}
			outcomes, err := classtest.Runner{Definitions: known, Update: update}.Run(cmd.Context(), tests)
			if err != nil {
				return err
			}
			report := classtest.Print
			if output == "json" {
				report = classtest.PrintJSON
			}
			if err := report(o.out, outcomes); err != nil {
				return err
			}
			if failed := classtest.Failed(outcomes); failed > 0 {
				return fmt.Errorf("%d of %d cases failed", failed, len(outcomes))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&update, "update", false, "write golden files instead of comparing with them")
	addOutput(cmd, &output)
	return cmd
}

// newRenderer knows the kinds that Slipway brings along, and those that are defined among the objects.
func newRenderer(objects []*unstructured.Unstructured) (*render.Renderer, error) {
	known, err := plane.Definitions()
	if err != nil {
		return nil, err
	}
	return render.New(append(known, objects...)...)
}

func readAll(in io.Reader, files []string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := readOne(in, file)
		if err != nil {
			return nil, err
		}
		found, err := manifests.Parse(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	if len(objects) == 0 {
		return nil, errors.New("the files are empty")
	}
	return objects, nil
}

func readOne(in io.Reader, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(file)
}

func printObjects(w io.Writer, objects []*unstructured.Unstructured, output string) error {
	if output == "json" {
		items := make([]any, 0, len(objects))
		for _, o := range objects {
			items = append(items, o.Object)
		}
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	}
	content, err := manifests.Encode(objects)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
