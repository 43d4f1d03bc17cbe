// Names of members that say what their value may be.

/** `payment_mandate`, `checkout_mandate`, `ap2.checkout_mandate`, `payment_mandate_chain` … */
export function isMandateName(name: string): boolean {
  const bare = name.replace(/_(?:chain|token|jwt)$/, '')
  return bare === 'mandate' || bare.endsWith('_mandate') || bare.endsWith('.mandate')
}

export type MandateKind = 'intent' | 'cart' | 'payment'

/** Members that hold a mandate of AP2 0.1. */
const MANDATES: Readonly<Record<string, MandateKind>> = {
  'ap2.mandates.IntentMandate': 'intent',
  'ap2.mandates.CartMandate': 'cart',
  'ap2.mandates.PaymentMandate': 'payment',
}

const MANDATE_MIN_CHARS = Math.min(...Object.keys(MANDATES).map((name) => name.length))

/** Asked of every container: nearly all names are shorter. */
export const mandateOf = (name: string): MandateKind | undefined =>
  name.length >= MANDATE_MIN_CHARS && Object.hasOwn(MANDATES, name) ? MANDATES[name] : undefined

const CODE_NAME =
  /^(?:cvc|cvv|cvc2|cvv2|csc|card_?cvc|card_?cvv|(?:card_?)?security_?code|card_?verification_?code)$/i

/** Whether a card's verification code is called that. */
export function isCodeName(name: string): boolean {
  const first = name[0]
  return (first === 'c' || first === 'C' || first === 's' || first === 'S') && CODE_NAME.test(name)
}
