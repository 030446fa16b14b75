package extension_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"time"

	hooks "github.com/slipway-capi/slipway/contract/api/runtime/hooks/v1alpha1"
	"github.com/slipway-capi/slipway/contract/extension"
	"github.com/slipway-capi/slipway/contract/extension/hook"
	"github.com/slipway-capi/slipway/contract/extension/templates"
)

// machineTemplate is what this extension knows of the templates that it changes.
type machineTemplate struct {
	Spec struct {
		Template struct {
			Spec struct {
				Image string `json:"image,omitempty"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// An extension that picks the image of machines by the version of Kubernetes, and lets nobody delete a cluster on weekends.
func Example() {
	server := extension.NewServer(extension.Options{CertFile: "/certs/tls.crt", KeyFile: "/certs/tls.key", Logger: slog.New(slog.DiscardHandler)})

	extension.Handle(server, hook.GeneratePatches, "images", func(_ context.Context, request *hooks.GeneratePatchesRequest, response *hooks.GeneratePatchesResponse) error {
		return templates.Change(request, response, func(t *templates.Template) error {
			builtins, err := t.Builtins()
			if err != nil || t.Object.GetKind() != "DevMachineTemplate" || builtins.MachineDeployment == nil {
				return err
			}
			return templates.Edit(t, func(m *machineTemplate) error {
				m.Spec.Template.Spec.Image = request.Settings["repository"] + ":" + builtins.MachineDeployment.Version
				return nil
			})
		})
	})
	today := time.Saturday
	extension.Handle(server, hook.BeforeClusterDelete, "weekend", func(_ context.Context, _ *hooks.BeforeClusterDeleteRequest, response *hooks.BeforeClusterDeleteResponse) error {
		if today == time.Saturday || today == time.Sunday {
			response.RetryAfterSeconds, response.Message = 3600, "nothing is deleted on weekends"
		}
		return nil
	}, extension.Timeout(5*time.Second))

	for _, handler := range server.Handlers() {
		fmt.Println(handler.Name, handler.RequestHook.Hook)
	}
	// In a program: err := server.Start(ctx). Here without network:
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, httptest.NewRequest("POST", hook.BeforeClusterDelete.Path("weekend"), strings.NewReader(`{"cluster":{}}`)))
	fmt.Println(answer.Body)
	// Output:
	// images GeneratePatches
	// weekend BeforeClusterDelete
	// {"kind":"BeforeClusterDeleteResponse","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","status":"Success","message":"nothing is deleted on weekends","retryAfterSeconds":3600}
}
