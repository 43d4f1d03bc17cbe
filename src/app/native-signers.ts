// Native signers that make the same signatures in less time. The gateway goes without them, and one sentence says so: at the start, and in the doctor.
import { IS_PACKAGED } from '../lib/packaged.ts'
import { loadAddon } from '../payments/secp256k1.ts'
import { loadSodium } from '../receipts/ed25519.ts'

interface NativeSigner {
  /** The package, and the version that was tried with this release. */
  readonly spec: string
  /** Looks beside the package, as whoever signs does. */
  readonly isThere: () => boolean
  /** What is slower without it. */
  readonly without: string
}

export const NATIVE_SIGNERS: readonly NativeSigner[] = [
  {
    spec: 'sodium-native@5.1.0',
    isThere: () => loadSodium() !== undefined,
    without: 'that of a receipt takes 36 us of CPU in place of 19',
  },
  {
    spec: 'secp256k1@5.0.2',
    isThere: () => loadAddon() !== undefined,
    without: 'who signed a payment is found in 75 us in place of 54',
  },
]

/** @returns what is missing, what that costs and how to get it; undefined where nothing is */
export function describeMissingSigners(
  signers: readonly NativeSigner[] = NATIVE_SIGNERS,
  isPackaged: boolean = IS_PACKAGED,
): string | undefined {
  const missing = signers.filter(({ isThere }) => !isThere())
  if (missing.length === 0) return undefined
  const names = missing.map(({ spec }) => spec.slice(0, spec.indexOf('@'))).join(' and ')
  const install = isPackaged
    ? `install beside the package: npm install --global ${missing.map(({ spec }) => spec).join(' ')}`
    : 'npm ci --include=optional'
  return `${names} ${missing.length === 1 ? 'is' : 'are'} not installed: signatures are the same, and ${missing.map(({ without }) => without).join('; ')}. To have ${missing.length === 1 ? 'it' : 'them'}, ${install}`
}
