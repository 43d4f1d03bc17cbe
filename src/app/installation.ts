// Notes the mode in which the data was begun, and refuses the other one. Sandbox credits, receipts and keys must never count
// in production, nor the reverse.
import { createHmac, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { ConfigError } from '../core/errors.ts'
import type { Config } from '../core/config.ts'
import type { DocumentKind, DocumentStore } from '../store/ports.ts'

const Installation = z.strictObject({ mode: z.enum(['sandbox', 'production']).nullable() })
type Installation = z.infer<typeof Installation>

const installationDocument: DocumentKind<Installation> = {
  name: 'installation',
  parse: (value) => Installation.parse(value),
  initial: { mode: null },
}

/** Notes the mode at the first start. @throws {ConfigError} when the data was begun in the other mode */
export async function claimInstallation(
  documents: Pick<DocumentStore, 'read' | 'update'>,
  { mode }: Pick<Config, 'mode'>,
): Promise<void> {
  const { value, problem } = await documents.read(installationDocument)
  // Whose money and keys these are cannot be guessed.
  if (problem !== undefined)
    throw new ConfigError([
      `${problem.replace(/; .*? is used\./, '.')} It notes the mode in which the data was begun: restore it from a backup, or write ` +
        '{"mode": "production"} or {"mode": "sandbox"} into it, whichever it was',
    ])
  const kept = value.mode
  const begunAs = kept ?? (await note(documents, mode))
  if (begunAs === mode) return
  throw new ConfigError([
    `GATEWAY_MODE is ${mode}, but this data was begun in ${begunAs} mode: its keys, credits and receipts are of that mode. ` +
      'Set GATEWAY_DATA_DIR to a new directory (and GATEWAY_DATABASE_URL, where it is set, to a new database)',
  ])
}

const DerivationCheck = z.strictObject({ check: z.string().nullable() })
type DerivationCheck = z.infer<typeof DerivationCheck>

const derivationDocument: DocumentKind<DerivationCheck> = {
  name: 'derivation-key-check',
  parse: (value) => DerivationCheck.parse(value),
  initial: { check: null },
}

/** A digest by which a derivation key is known, and which tells nothing of it. */
export const derivationCheck = (deriveKey: (purpose: string) => KeyObject): string =>
  createHmac('sha256', deriveKey('replica-check')).digest('base64url')

/**
 * Compares the derivation key with the one of the first start, by a digest that tells nothing of it.
 * @returns whether it is the same: a process with another one releases no result that was bought under the first
 */
export async function sharesDerivationKey(
  documents: Pick<DocumentStore, 'read' | 'update'>,
  deriveKey: (purpose: string) => KeyObject,
): Promise<boolean> {
  const own = derivationCheck(deriveKey)
  const kept = (await documents.read(derivationDocument)).value.check
  if (kept !== null) return kept === own
  try {
    return (
      (await documents.update(derivationDocument, ({ check }) => ({ check: check ?? own }))).check === own
    )
  } catch {
    // Another replica noted its own at the same moment.
    return (await documents.read(derivationDocument)).value.check === own
  }
}

async function note(
  documents: Pick<DocumentStore, 'read' | 'update'>,
  mode: Config['mode'],
): Promise<Config['mode']> {
  try {
    const noted = await documents.update(installationDocument, (value) => ({ mode: value.mode ?? mode }))
    return noted.mode ?? mode
  } catch {
    // Another replica noted it at the same moment: what it wrote is what counts.
    return (await documents.read(installationDocument)).value.mode ?? mode
  }
}
