// Package extension is for authors of runtime extensions: servers that the managers ask at certain points in the life of clusters.
//
// An extension makes a [Server], gives it a handler for each hook that it serves, and starts it:
//
//	server := extension.NewServer(extension.Options{CertFile: "/certs/tls.crt", KeyFile: "/certs/tls.key"})
//	extension.Handle(server, hook.BeforeClusterDelete, "backup", func(ctx context.Context, request *hooks.BeforeClusterDeleteRequest, response *hooks.BeforeClusterDeleteResponse) error {
//		if !finished(request.Cluster) {
//			response.RetryAfterSeconds = 30
//		}
//		return nil
//	})
//	err := server.Start(ctx)
//
// The server answers the question what it serves by itself. It needs nothing but the standard library and the types of the API: no
// Kubernetes client, no framework. An ExtensionConfig in the management cluster says where it is.
//
// What handlers must know: calls are repeated, so the same request must have the same effect and answer; a call that returns no
// error is a success; one that returns an error, or panics, is a failure whose text users will see. A handler that needs time must not
// take it, but answer with RetryAfterSeconds where the response has it: the manager asks again.
//
// Package templates, below this one, helps with patches of templates; package extensiontest with tests.
package extension
