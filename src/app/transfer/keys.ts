// Whether the key files beside a database are those that its data needs. They are looked at and never made.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config.ts'
import { ConfigError } from '../../core/errors.ts'
import { isServiceKid } from '../../egress/authority/spec.ts'
import { openDerivationKey } from '../../receipts/adapters/derivation-key.ts'
import { readSigningKeys } from '../../receipts/adapters/signing-key-file.ts'
import type { BackupHeader } from '../../store/transfer/backup-file.ts'
import { operatorKeyFile } from '../bootstrap.ts'
import { keyIdsIn } from '../doctor/files.ts'
import { derivationCheck } from '../installation.ts'

export interface KeyFinding {
  readonly file: string
  /** Without it nothing is restored. */
  readonly isNeeded: boolean
  /** What is wrong, and what that means. */
  readonly says: string
}

/** For a person. What readers of key files say begins with the name already. */
export const describeKey = ({ file, says }: KeyFinding): string =>
  says.startsWith(file) ? says : `${file}: ${says}`

type Needs = BackupHeader['keys']

/** What is missing, or does not fit; nothing where all is well. Contents are never quoted. */
export async function examineKeys(
  needs: Needs,
  config: Pick<Config, 'dataDir' | 'authorityKeyFile' | 'authorities' | 'operatorKey'>,
): Promise<readonly KeyFinding[]> {
  const found = await Promise.all([
    examineAuthority(needs.authority, config),
    examineDerivation(needs.derivation_check, join(config.dataDir, 'derivation.jwk')),
    examineSigning(needs.signing, join(config.dataDir, 'signing.jwk')),
    examineOperator(config),
  ])
  return found.filter((finding) => finding !== undefined)
}

async function examineAuthority(
  kids: readonly string[],
  { authorityKeyFile: file, authorities }: Pick<Config, 'authorityKeyFile' | 'authorities'>,
): Promise<KeyFinding | undefined> {
  const services = kids.filter(isServiceKid)
  if (services.length > 0 && authorities.every(({ kind }) => kind === 'file'))
    return {
      file: 'GATEWAY_AUTHORITY',
      isNeeded: true,
      says: `Stored credentials are sealed to ${services.join(', ')}, a key of a key service. Name that service as the gateway was started with.`,
    }
  const inFile = kids.filter((kid) => !isServiceKid(kid))
  if (inFile.length === 0) return undefined
  const held = await keyIdsIn(file)
  const missing = inFile.filter((kid) => !held.includes(kid))
  if (missing.length === 0) return undefined
  const what = existsSync(file) ? `does not hold ${missing.join(', ')}` : 'is missing'
  return {
    file,
    isNeeded: true,
    says:
      `It ${what}: stored credentials are sealed to ${missing.join(', ')}, and without that key none of them can be opened by anybody. Put the ` +
      'file there from its own backup; where the key was rotated, from before that.',
  }
}

async function examineDerivation(check: string | null, file: string): Promise<KeyFinding | undefined> {
  if (check === null) return undefined
  const means =
    'without it no buyer can fetch what is paid for, sealed answers cannot be opened, and calls under an Idempotency-Key would be sent again. Put ' +
    'the file there from its own backup.'
  if (!existsSync(file)) return { file, isNeeded: true, says: `It is missing: ${means}` }
  try {
    const deriveKey = await openDerivationKey({ file, inherited: () => Promise.resolve(undefined) })
    if (derivationCheck(deriveKey) === check) return undefined
  } catch (thrown) {
    if (thrown instanceof ConfigError) return { file, isNeeded: true, says: thrown.problems.join('; ') }
    throw thrown
  }
  return { file, isNeeded: true, says: `It is the key of another installation: ${means}` }
}

async function examineSigning(kids: readonly string[], file: string): Promise<KeyFinding | undefined> {
  try {
    const held = (await readSigningKeys(file)) ?? []
    if (kids.length === 0 || held.some(({ kid }) => kids.includes(kid))) return undefined
    const what = held.length === 0 ? 'It is missing' : 'It is not one of the keys that sign here'
    return {
      file,
      isNeeded: false,
      says: `${what}: the start makes or publishes a key of its own. Old receipts verify all the same; retire the key that is gone (\`signing-key list\`, then \`signing-key retire\`).`,
    }
  } catch (thrown) {
    if (thrown instanceof ConfigError) return { file, isNeeded: true, says: thrown.problems.join('; ') }
    throw thrown
  }
}

async function examineOperator({
  dataDir,
  operatorKey,
}: Pick<Config, 'dataDir' | 'operatorKey'>): Promise<KeyFinding | undefined> {
  const file = operatorKeyFile(dataDir)
  if (operatorKey !== undefined || existsSync(file)) return undefined
  return {
    file,
    isNeeded: false,
    says: 'It is missing: commands on this machine need another service key (--key-file), since a restore makes none.',
  }
}
