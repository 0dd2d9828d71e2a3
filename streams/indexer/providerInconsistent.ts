/** The provider answered what cannot be true, or no longer is. Asking again later may help. */
export class ProviderInconsistent extends Error {
  override readonly name = 'ProviderInconsistent';
}
