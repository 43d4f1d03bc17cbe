// What a run holds: for each host that is called one capability, made when it is first called, for that host alone. None of them is ever in the
// hands of the program, and all of them end with the run.
import { egressCapabilitiesIssue } from '../../../tools/egress-capabilities-issue.ts'
import { egressCapabilitiesNarrow } from '../../../tools/egress-capabilities-narrow.ts'
import { egressCapabilitiesRevoke } from '../../../tools/egress-capabilities-revoke.ts'
import { egressCredentialsList } from '../../../tools/egress-credentials-list.ts'
import { CredentialSettings, type Placement } from '../../../schemas/credential-settings.ts'
import type { CredentialMetadata } from '../../../schemas/egress.ts'
import { GatewayError } from '../../core/errors.ts'
import { comparedPath } from '../../egress/relay/target.ts'
import { checkScope, coversHost, longestPrefix } from '../../egress/scope.ts'
import { Secret } from '../../lib/secret.ts'
import type { Client } from '../client.ts'
import { CommandFailure, Exit } from '../exit.ts'
import type { CalledHost, RunPolicy } from './policy.ts'

const DAY_SECONDS = 86_400
/** A capability that ends sooner is followed by another. */
const RENEW_BEFORE_MS = 60 * 60_000

/** A capability for one host under one credential. */
export interface HeldForHost {
  readonly id: string
  readonly credentialId: string
  /** Undefined where it was cut from a capability, whose holder is not told. */
  readonly credential?: CredentialMetadata | undefined
  readonly token: Secret<string>
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export interface Holder {
  /** Providers whose keys programs look for. */
  readonly providers: ReadonlySet<string>
  covers(called: CalledHost): Promise<boolean>
  /** @returns undefined where nothing is held for the host */
  find(
    called: CalledHost & { readonly method: string; readonly path: string },
  ): Promise<HeldForHost | undefined>
  /** Everything that was made, in order. */
  made(): readonly HeldForHost[]
  /** Makes nothing more, and ends everything that was made, with what is being made now. Never rejects. @returns how many could not be ended, or may have been made without an answer */
  end(): Promise<number>
}

/** `host` is any port to the gateway, so what is not 443 is said. */
const entryOf = ({ host, port }: CalledHost) => (port === 443 ? host : `${host}:${port}`)

export interface HoldOptions {
  /** Of the capabilities that are made. */
  readonly label: string
  /** Rules that each of them gets; undefined where the run has none. */
  readonly policy?: RunPolicy | undefined
}

/** A host that no rule is for is one that the run has nothing for. */
const isRuled = (policy: RunPolicy | undefined, called: CalledHost): boolean =>
  policy === undefined || policy.rulesFor(called).length > 0

/** An operator's run: on stored credentials, all of the account's where none are named. */
export async function holdCredentials(
  client: Client,
  ids: readonly string[] | undefined,
  { label, policy }: HoldOptions,
): Promise<Holder> {
  const all = await listCredentials(client)
  const live = all.filter(({ revoked_at }) => revoked_at === null)
  const chosen = ids === undefined ? live : ids.map((id) => findCredential(live, id))
  if (chosen.length === 0)
    throw new CommandFailure(
      Exit.failed,
      'This account has no credential yet. Store one with `agent-gateway credentials add`, then run again.',
    )
  const issued = createIssued(client, async (credential: CredentialMetadata, entry, called) => ({
    made: await client.call(egressCapabilitiesIssue, {
      credential_id: credential.credential_id,
      hosts: [entry],
      ttl_seconds: DAY_SECONDS,
      label,
      ...(policy && { rules: policy.rulesFor(called) }),
    }),
    token: undefined,
    credential,
  }))
  const forHost = ({ host, port }: CalledHost) =>
    chosen.filter(({ hosts }) => hosts.some((entry) => coversHost(entry, host, port)))

  return {
    ...issued,
    providers: new Set(chosen.map(({ provider }) => provider)),
    covers: async (called) => isRuled(policy, called) && forHost(called).length > 0,
    async find(called) {
      const { host, port, method } = called
      const [written = '/'] = called.path.split('?', 1)
      const candidates = forHost(called).map((one) => ({
        one,
        path: comparedPath(written, placementsIn(one)),
      }))
      // Of several the one whose path says most, however the program spells it; where none covers the request, the gateway says why.
      const covering = candidates
        .filter(({ one, path }) => checkScope(one, { host, port, path, method }).ok)
        .toSorted((a, b) => longestPrefix(b.one, b.path) - longestPrefix(a.one, a.path))
      const best = covering[0] ?? candidates[0]
      return best && issued.for(best.one, called)
    },
  }
}

/** Of the settings alone: none that is left out stands in a path. A newer gateway may know of others. */
const placementsIn = ({ settings = {} }: Partial<CredentialMetadata>): readonly Placement[] =>
  CredentialSettings.shape.placements.safeParse(settings['placements']).data ?? []

function findCredential(live: readonly CredentialMetadata[], id: string): CredentialMetadata {
  const found = live.filter(({ credential_id, label }) => credential_id === id || label === id)
  const [one] = found
  if (one && found.length === 1) return one
  throw new CommandFailure(
    Exit.failed,
    one
      ? `Several credentials have the label ${id}: name the one you mean by its id (cred_…).`
      : `There is no live credential ${id}. \`agent-gateway credentials list\` shows those of the account.`,
  )
}

async function listCredentials(client: Client): Promise<readonly CredentialMetadata[]> {
  const found: CredentialMetadata[] = []
  let before: string | undefined
  do {
    const page = await client.call(egressCredentialsList, {
      limit: 100,
      ...(before === undefined ? {} : { before }),
    })
    found.push(...page.credentials)
    before = page.next ?? undefined
  } while (before !== undefined)
  return found
}

/** An agent's run: everything is cut from the capability that it holds. */
export function holdCapability(client: Client, own: Secret<string>, { label, policy }: HoldOptions): Holder {
  const issued = createIssued(client, async (_nothing: 'own', entry, called) => ({
    made: await client.call(
      egressCapabilitiesNarrow,
      { hosts: [entry], label, ...(policy && { rules: policy.rulesFor(called) }) },
      own,
    ),
    token: own,
    credential: undefined,
  }))
  const find = async (called: CalledHost) => {
    if (!isRuled(policy, called)) return undefined
    try {
      return await issued.for('own', called)
    } catch (thrown) {
      if (thrown instanceof CommandFailure && thrown.problem?.['code'] === 'scope_denied') return undefined
      throw thrown
    }
  }
  return {
    ...issued,
    // An agent is not told which providers are behind its capability.
    providers: new Set(),
    covers: async (called) => (await find(called)) !== undefined,
    find,
  }
}

interface Made {
  readonly capability_id: string
  readonly credential_id: string | null
  readonly capability: string
  readonly expires_at: string
}

/** What the gateway refused to make is nothing; without an answer it may have been made. */
function noneIfRefused(thrown: unknown): undefined {
  if (!(thrown instanceof CommandFailure) || thrown.exitCode === Exit.unreachable) throw thrown
}

/** Makes one capability for each source and host, however many ask for it at once. */
function createIssued<Source>(
  client: Client,
  make: (
    source: Source,
    entry: string,
    called: CalledHost,
  ) => Promise<{
    readonly made: Made
    readonly token: Secret<string> | undefined
    readonly credential: CredentialMetadata | undefined
  }>,
) {
  const byHost = new Map<Source, Map<string, Promise<HeldForHost>>>()
  const all: HeldForHost[] = []
  /** Asked for and not answered yet. */
  const pending = new Set<Promise<HeldForHost>>()
  let isEnded = false
  let endsBy: Secret<string> | undefined

  async function issue(source: Source, called: CalledHost): Promise<HeldForHost> {
    const { made, token, credential } = await make(source, entryOf(called), called)
    endsBy = token
    const held = {
      id: made.capability_id,
      credentialId: made.credential_id ?? '',
      credential,
      token: new Secret(made.capability),
      expiresAt: Date.parse(made.expires_at),
    }
    all.push(held)
    return held
  }

  function refuseAfterEnd(): void {
    if (isEnded) throw new GatewayError('scope_denied', 'This run is over.')
  }

  return {
    made: () => all,
    async for(source: Source, called: CalledHost): Promise<HeldForHost> {
      refuseAfterEnd()
      const entry = entryOf(called)
      const hosts = byHost.get(source) ?? new Map<string, Promise<HeldForHost>>()
      byHost.set(source, hosts)
      const known = hosts.get(entry)
      if (known) {
        const held = await known
        const isFresh = held.expiresAt - Date.now() > RENEW_BEFORE_MS
        // One that was cut from a capability that ends soon cannot live longer by being made anew.
        if (isFresh || endsBy !== undefined) return held
        refuseAfterEnd()
      }
      const making = issue(source, called)
      hosts.set(entry, making)
      pending.add(making)
      making.catch(() => hosts.delete(entry)).finally(() => pending.delete(making))
      return making
    },
    async end(): Promise<number> {
      isEnded = true
      const made = new Set(all)
      const revoke = ({ id }: HeldForHost) =>
        client.call(egressCapabilitiesRevoke, { capability_id: id }, endsBy)
      // The gateway may have made these already, and nobody else knows their ids. The others do not wait for them.
      const late = [...pending].map(async (making) => {
        const held = await making.catch(noneIfRefused)
        if (held && !made.has(held)) await revoke(held)
      })
      const ended = await Promise.allSettled([...[...made].map(revoke), ...late])
      return ended.filter(({ status }) => status === 'rejected').length
    },
  }
}
