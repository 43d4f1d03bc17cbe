/** Which addresses may be dialled. */
export interface AddressPolicy {
  classify(address: string): AddressVerdict
}
export type AddressVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** @param allowPrivateCidrs GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS */
export function createAddressPolicy(_allowPrivateCidrs: readonly string[]): AddressPolicy {
  throw new Error('being written')
}
