// Options of `credentials` for servers on private networks and for those that ask for a client certificate.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CredentialSettings, PrivateTarget } from '../../schemas/credential-settings.ts'
import { addPartsOption, partsOf, type PartsOption } from './credential-parts.ts'
import { CommandFailure, Exit } from './exit.ts'
import { readInput } from './input.ts'
import { readSecret } from './secrets.ts'

export interface ReachOptions {
  readonly unsafePrivateTarget?: readonly PrivateTarget[]
  readonly caFile?: string
}

/** Adds `--ca-file` and `--unsafe-private-target`, which an administrator may give several times. */
export function addReachOptions(command: Command): Command {
  return command
    .option(
      '--ca-file <file>',
      'PEM of the authorities that count for this credential, instead of the public ones',
    )
    .addOption(
      new Option(
        '--unsafe-private-target <host:port=range>',
        'administrator: a private range that this credential alone may reach at this host, e.g. git.example.com:443=10.1.2.0/24',
      ).argParser(collectTarget),
    )
}

/**
 * Settings with what these options say: the others stay.
 * @throws {CommandFailure} where the file of authorities cannot be read
 */
export async function withReach(
  settings: CredentialSettings,
  { unsafePrivateTarget, caFile }: ReachOptions,
): Promise<CredentialSettings> {
  const ca = caFile === undefined ? undefined : (await readInput('authority', caFile)).toString('utf8')
  return {
    ...settings,
    ...(ca !== undefined && { tls: { ...settings.tls, ca } }),
    ...(unsafePrivateTarget && { unsafe_private_targets: [...unsafePrivateTarget] }),
  }
}

/** @throws {CommandFailure} where a file of settings and an option say both which private targets there are */
export function refuseTwoLists(settings: CredentialSettings, { unsafePrivateTarget }: ReachOptions): void {
  if (settings.unsafe_private_targets && unsafePrivateTarget)
    throw new CommandFailure(
      Exit.usage,
      'The settings file has unsafe_private_targets: name all of them there, or all with --unsafe-private-target.',
    )
}

export interface SecretOptions extends PartsOption {
  readonly secretFile?: string
  readonly clientCertificateFile?: string
  readonly clientKeyFile?: string
  /** False with `--no-secret`. */
  readonly secret?: boolean
}

/** Adds where the secret comes from, and a client certificate with its key, beside the secret or, with `--no-secret`, in its place. */
export const addSecretOptions = (command: Command): Command =>
  addPartsOption(command)
    .option('--secret-file <file>', 'read the secret from this file instead of stdin')
    .option('--client-certificate-file <file>', 'PEM of a client certificate (mTLS), the issuers after it')
    .option('--client-key-file <file>', 'PEM of its private key')
    .option('--no-secret', 'the client certificate is all that the server asks for')

/**
 * The secret as the tools take it: one text, or the parts of it with those of a client certificate.
 * @throws {CommandFailure} where a certificate comes without its key, and as `readSecret` and `partsOf`
 */
export async function readSecretTexts(
  options: SecretOptions,
): Promise<{ secret: string } | { parts: Record<string, string> }> {
  const { clientCertificateFile, clientKeyFile, secretFile } = options
  const isAlone = options.secret === false
  if (clientCertificateFile === undefined && clientKeyFile === undefined) {
    if (isAlone)
      throw new CommandFailure(Exit.usage, '--no-secret is for credentials with a client certificate.')
    return partsOf(await readSecret('secret', secretFile), options)
  }
  if (clientCertificateFile === undefined || clientKeyFile === undefined)
    throw new CommandFailure(
      Exit.usage,
      'A client certificate goes with its key: give --client-certificate-file and --client-key-file together.',
    )
  const certificate = await readSecret('client certificate', clientCertificateFile)
  const key = await readSecret('client key', clientKeyFile)
  const others = isAlone ? { parts: {} } : partsOf(await readSecret('secret', secretFile), options)
  return {
    parts: {
      ...('parts' in others ? others.parts : others),
      client_certificate: certificate.use((text) => text),
      client_key: key.use((text) => text),
    },
  }
}

/** The gateway judges host, port and range; here it is one shape or none. */
function collectTarget(text: string, previous: readonly PrivateTarget[] = []): readonly PrivateTarget[] {
  const [, host, port = '443', cidr] = /^([^:=]+)(?::(\d{1,5}))?=([0-9a-fA-F.:]+\/\d{1,3})$/.exec(text) ?? []
  if (host === undefined || cidr === undefined)
    throw new InvalidArgumentError('Write it as host:port=range, e.g. git.example.com:443=10.1.2.0/24.')
  return [...previous, { host, port: Number(port), cidr: cidr.toLowerCase() }]
}
