// Values that are secret by the name they stand under: keys of wallets, and what is too random to be a word.
import { isPlaceholder } from '../decode/jws.ts'
import { KEY_NAME, SECRET_NAME, SECRET_WORD } from './patterns.ts'

/** Shorter values are no secret by their name alone. */
export const NAMED_MIN_CHARS = 32
const MAX_CHARS = 512
const MIN_BITS_PER_CHAR = 4.2
/** Sixteen symbols cannot hold more than four bits each. */
const MIN_HEX_BITS_PER_CHAR = 3

/** `apiKey`, `X-Api-Key` and `api_key` are one name. */
const snake = (name: string): string =>
  name
    .slice(-64)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()

/** @returns the kind of secret that the value is under this name, if it is one */
export function judgeNamed(name: string, value: string): string | undefined {
  if (value.length < NAMED_MIN_CHARS || value.length > MAX_CHARS || !SECRET_WORD.test(name)) return undefined
  const plain = snake(name)
  if (!SECRET_NAME.test(plain)) return undefined
  if (KEY_NAME.test(plain)) {
    // Secrets of OAuth and webhooks are as often 64 digits: what is not of a wallet by its name has to be written as its keys are.
    const form = WALLET_NAME.test(plain) ? /^(?:0x)?[\da-fA-F]{64}$/ : /^0x[\da-fA-F]{64}$/
    if (form.test(value) && !isRepetition(value)) return 'evm_private_key'
    if (/^[1-9A-HJ-NP-Za-km-z]{86,88}$/.test(value)) return 'solana_private_key'
  }
  if (isPlaceholder(value) || /\s/.test(value)) return undefined
  const bits = entropyOf(value)
  const enough = /^[\da-fA-F]+$/.test(value) ? MIN_HEX_BITS_PER_CHAR : MIN_BITS_PER_CHAR
  return bits >= enough ? 'high_entropy_secret' : undefined
}

const WALLET_NAME = /private|wallet|mnemonic|signing_?key/

const isRepetition = (value: string): boolean => new Set(value.replace(/^0x/, '')).size < 4

/** Shannon, in bits per character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
