// Names of members that say what their value may be.

/** `payment_mandate`, `checkout_mandate`, `ap2.checkout_mandate`, `payment_mandate_chain` … */
export function isMandateName(name: string): boolean {
  const bare = name.replace(/_(?:chain|token|jwt)$/, '')
  return bare === 'mandate' || bare.endsWith('_mandate') || bare.endsWith('.mandate')
}

export type MandateKind = 'intent' | 'cart' | 'payment'

/** Members that hold a mandate of AP2 0.1. */
const MANDATES: ReadonlyMap<string, MandateKind> = new Map([
  ['ap2.mandates.IntentMandate', 'intent'],
  ['ap2.mandates.CartMandate', 'cart'],
  ['ap2.mandates.PaymentMandate', 'payment'],
])

/** @returns the kind of the mandate that a member of this name holds, if it is named that */
export const mandateOf = (name: string): MandateKind | undefined => MANDATES.get(name)

const CODE_NAME =
  /^(?:cvc|cvv|cvc2|cvv2|csc|card_?cvc|card_?cvv|(?:card_?)?security_?code|card_?verification_?code)$/i

/** Whether a card's verification code is called that. */
export const isCodeName = (name: string): boolean => CODE_NAME.test(name)
