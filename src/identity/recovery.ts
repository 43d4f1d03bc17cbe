// Recovery codes: what somebody signs in with who has lost their passkey. Each works once.
import { hash, randomBytes } from 'node:crypto'

export const RECOVERY_CODES = 10
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Eighty bits, so a plain hash is enough: there is nothing to guess. */
const CHARACTERS = 16

/** @returns codes in groups of four, as somebody writes them down */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = [...randomBytes(CHARACTERS)].map((byte) => ALPHABET.charAt(byte & 31)).join('')
    return text.replace(/(.{4})(?=.)/g, '$1-')
  })
}

/** @returns what is stored of it: however it was typed, the same */
export function hashRecoveryCode(code: string): Buffer {
  const plain = code
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  return hash('sha256', `agent-gateway recovery ${plain}`, 'buffer')
}
