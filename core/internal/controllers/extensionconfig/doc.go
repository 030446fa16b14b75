// Package extensionconfig asks extensions what they serve and keeps the answer in the status of their ExtensionConfigs. It fills in
// the authorities of an extension from a Secret that an annotation names. It watches ExtensionConfigs and the metadata of Secrets; it
// writes spec.clientConfig.caBundle and the status.
//
// What callers of hooks know of extensions is made from the stored ExtensionConfigs, in every instance of the manager: see
// contract/extension/registration. An extension that does not answer any more thus keeps the handlers that it had.
package extensionconfig
