// Package templates helps extensions to patch and to judge the templates of a cluster, for the hooks GeneratePatches and
// ValidateTopology.
//
//	extension.Handle(server, hook.GeneratePatches, "proxy", func(_ context.Context, request *hooks.GeneratePatchesRequest, response *hooks.GeneratePatchesResponse) error {
//		return templates.Change(request, response, func(t *templates.Template) error {
//			var proxy string
//			if found, err := t.Variable("proxy", &proxy); err != nil || !found || t.Object.GetKind() != "KubeadmConfigTemplate" {
//				return err
//			}
//			return templates.Edit(t, func(k *KubeadmConfigTemplate) error { … })
//		})
//	})
//
// What an extension does not know of a template survives: patches hold only what the function changed, even where the types
// of the extension are older than those of the management cluster.
package templates
