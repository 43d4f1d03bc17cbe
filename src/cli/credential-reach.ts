// Options of `credentials add` for servers on private networks.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CredentialSettings, PrivateTarget } from '../../schemas/credential-settings.ts'

export interface ReachOptions {
  readonly unsafePrivateTarget?: readonly PrivateTarget[]
}

/** Adds `--unsafe-private-target`, which an administrator may give several times. */
export function addReachOptions(command: Command): Command {
  return command.addOption(
    new Option(
      '--unsafe-private-target <host:port=range>',
      'administrator: a private range that this credential alone may reach at this host, e.g. git.example.com:443=10.1.2.0/24',
    ).argParser(collectTarget),
  )
}

/** The settings that these options stand for. */
export const reachSettingsOf = ({ unsafePrivateTarget }: ReachOptions): CredentialSettings =>
  unsafePrivateTarget ? { unsafe_private_targets: [...unsafePrivateTarget] } : {}

/** The gateway judges host, port and range; here it is one shape or none. */
function collectTarget(text: string, previous: readonly PrivateTarget[] = []): readonly PrivateTarget[] {
  const [, host, port = '443', cidr] = /^([^:=]+)(?::(\d{1,5}))?=([0-9a-fA-F.:]+\/\d{1,3})$/.exec(text) ?? []
  if (host === undefined || cidr === undefined)
    throw new InvalidArgumentError('Write it as host:port=range, e.g. git.example.com:443=10.1.2.0/24.')
  return [...previous, { host, port: Number(port), cidr: cidr.toLowerCase() }]
}
