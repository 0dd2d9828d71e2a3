/** The provider's answer cannot be true, or is outdated. A later retry may succeed. */
export class ProviderInconsistent extends Error {
  override readonly name = 'ProviderInconsistent';
}
