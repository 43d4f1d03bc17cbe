// Opens the authorities that the configuration names. The clients of key services are optional packages: one is loaded where it is
// named, and nowhere else.
import type { AuthoritySpec } from '../../../core/config.ts'
import { ConfigError, GatewayError } from '../../../core/errors.ts'
import { joinAuthorities, type OwningAuthority } from '../../authority/joined.ts'
import { type KeyService, KeyServiceError } from '../../authority/key-service.ts'
import { openServiceAuthority } from '../../authority/service-authority.ts'
import { isServiceKid } from '../../authority/spec.ts'
import type { Logger } from '../../../lib/log.ts'
import type { KnownKeys } from '../../ports.ts'
import { openAuthority } from '../authority.ts'
import { openAwsKms } from './aws-kms.ts'
import { openGcpKms } from './gcp-kms.ts'
import { openPkcs11 } from './pkcs11.ts'
import { openVaultTransit } from './vault-transit.ts'

/** Clients of key services, each in the version that was tried with this release. */
export const KEY_SERVICE_PACKAGES = {
  '@aws-sdk/client-kms': '3.1161.0',
  '@google-cloud/kms': '6.3.0',
  pkcs11js: '2.1.7',
} as const

/** Two of them are development packages of the sources too: without `--save-prod` npm would omit them, or install all that are. */
const INSTALL = 'npm install --no-save --save-prod --omit=dev --omit=optional'

export interface AuthoritiesOptions {
  /** The first one wraps; the others open what is still under them. */
  readonly specs: readonly AuthoritySpec[]
  readonly file: string
  readonly vaultTokenFile: string | undefined
  readonly vaultNamespace: string | undefined
  /** Key ids that stored records are wrapped to. */
  readonly sealedTo: readonly string[]
  readonly known: KnownKeys
  readonly log: Logger
  /** Variables of this process: libraries of tokens are configured by theirs. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly now: () => number
}

/**
 * @throws {ConfigError} saying which authority cannot be used, and what to do about it
 * @throws {GatewayError} credential_unavailable where a service does not answer: the same start may succeed in a moment
 */
export async function openAuthorities(options: AuthoritiesOptions): Promise<OwningAuthority> {
  const { specs, sealedTo } = options
  const opened: OwningAuthority[] = []
  try {
    // Services first: what they own is not for the file to miss.
    for (const spec of specs) if (spec.kind !== 'file') opened.push(await openService(spec, options))
    const at = specs.findIndex(({ kind }) => kind === 'file')
    const strangers = sealedTo.filter((kid) => !opened.some((authority) => authority.owns(kid)))
    const lost = at < 0 ? strangers : strangers.filter(isServiceKid)
    if (lost.length > 0)
      throw new ConfigError([
        `GATEWAY_AUTHORITY: stored credentials are sealed to ${lost.join(', ')}, which is a key of none of the ` +
          'authorities named. Name the one that they are under after the new one (for the key file: `,file`), start, ' +
          'run `agent-gateway authority rotate`, and take it out again',
      ])
    if (at >= 0) opened.splice(at, 0, await openFile(options, strangers))
    const [first, ...others] = opened
    if (!first) throw new ConfigError(['GATEWAY_AUTHORITY: name one authority at least'])
    return joinAuthorities(first, others)
  } catch (thrown) {
    await Promise.all(opened.map((authority) => authority.close()))
    throw thrown
  }
}

/** The key file owns every key id that is nobody else's: older releases gave it ids of any form. */
async function openFile(
  { file, now, known, log }: AuthoritiesOptions,
  sealedTo: readonly string[],
): Promise<OwningAuthority> {
  const ofFiles: KnownKeys = {
    ...known,
    listNeeded: async () => (await known.listNeeded()).filter((kid) => !isServiceKid(kid)),
  }
  const authority = await openAuthority({ file, now, sealedTo, known: ofFiles, log })
  return { ...authority, owns: (kid) => !isServiceKid(kid), close: async () => {} }
}

type ServiceSpec = Exclude<AuthoritySpec, { kind: 'file' }>

async function openService(spec: ServiceSpec, options: AuthoritiesOptions): Promise<OwningAuthority> {
  let service: KeyService | undefined
  try {
    service = await load(spec, options)
    return await openServiceAuthority(service)
  } catch (thrown) {
    await service?.close()
    if (!(thrown instanceof KeyServiceError)) throw thrown
    const words = `GATEWAY_AUTHORITY: ${thrown.message}`
    // After a power cut the service may come up later than the gateway: whoever supervises it may try again.
    if (thrown.reason === 'unreachable')
      throw new GatewayError('credential_unavailable', words, { cause: thrown })
    throw new ConfigError([words])
  }
}

async function load(spec: ServiceSpec, options: AuthoritiesOptions): Promise<KeyService> {
  switch (spec.kind) {
    case 'aws-kms':
      return await orMissing('@aws-sdk/client-kms', () => openAwsKms(spec))
    case 'gcp-kms':
      return await orMissing('@google-cloud/kms', () => openGcpKms(spec))
    case 'vault-transit': {
      const { vaultTokenFile, vaultNamespace } = options
      if (vaultTokenFile === undefined)
        throw new ConfigError([
          'GATEWAY_VAULT_TOKEN_FILE: `vault-transit` needs a file with a token, which is read for each request',
        ])
      return openVaultTransit({ ...spec, tokenFile: vaultTokenFile, namespace: vaultNamespace })
    }
    case 'pkcs11':
      return await orMissing('pkcs11js', () => openPkcs11(spec, options))
  }
}

async function orMissing(
  name: keyof typeof KEY_SERVICE_PACKAGES,
  open: () => Promise<KeyService>,
): Promise<KeyService> {
  try {
    return await open()
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw thrown
    throw new ConfigError([
      `GATEWAY_AUTHORITY: the package ${name} is missing, or was not compiled; install it in the gateway's folder with \`${INSTALL} ${name}@${KEY_SERVICE_PACKAGES[name]}\``,
    ])
  }
}
