// Which capability a request of a connection goes out on: an assistant names a URL, never a credential.
import { GatewayError } from '../core/errors.ts'
import type { CredentialCapability, HeldCapability, Store } from '../store/ports.ts'
import { placementsOf } from './placement/place.ts'
import type { Egress, WantedScope } from './ports.ts'
import { comparedPath } from './relay/target.ts'
import { checkScope, checkSubset, coversHost, longestPrefix } from './scope.ts'

type Parts = Pick<Store, 'findParts'>

/**
 * Of several that cover the request the one whose path says most, then the one of the oldest credential: the same request goes out on the
 * same credential every time, however its path is spelled. What is no URL is left to the one place that judges it.
 * @returns `capabilityFor` of the port
 */
export const createChooseCapability =
  ({ findParts, getCredential }: Parts & Pick<Store, 'getCredential'>): Egress['capabilityFor'] =>
  async (held, { url, method, isOfProgram = false }) => {
    const { credentialId } = held
    if (credentialId !== null) return { ...held, credentialId }
    const parts = held.parts ?? (await findParts(held.id))
    const [first] = parts
    const target = URL.parse(url)
    if (first === undefined) throw nothingCovers(held)
    if (target?.protocol !== 'https:') return first
    const { hostname: host, pathname } = target
    const port = Number(target.port || 443)
    // Of hosts that it is not for, nothing is asked of a credential.
    const here = parts.filter(({ scope }) => scope.hosts.some((entry) => coversHost(entry, host, port)))
    const asked = await Promise.all(
      here.map(async (part) => {
        const credential = isOfProgram && (await getCredential(part.credentialId, part.accountId))
        return { part, path: comparedPath(pathname, credential ? placementsOf(credential) : []) }
      }),
    )
    const covering = asked
      .filter(({ part, path }) => checkScope(part.scope, { host, port, path, method }).ok)
      .map(({ part, path }) => ({ part, detail: longestPrefix(part.scope, path) }))
      .toSorted((a, b) => b.detail - a.detail)
    const [best] = covering
    if (best === undefined) throw nothingCovers(held)
    return best.part
  }

/**
 * The capability of a connection that a smaller one is cut from: the first that allows all that is asked for.
 * @throws {GatewayError} scope_denied where none does, or where nothing is asked for and there are several
 */
export async function choosePart(
  { findParts }: Parts,
  held: HeldCapability,
  wanted: WantedScope,
): Promise<CredentialCapability> {
  const parts = held.parts ?? (await findParts(held.id))
  const fitting = parts.filter(({ scope }) => checkSubset({ ...scope, ...definedOf(wanted) }, scope).ok)
  const [first, second] = fitting
  if (first === undefined) throw nothingCovers(held)
  if (second !== undefined && wanted.hosts === undefined)
    throw new GatewayError(
      'scope_denied',
      'This connection has several credentials. Name `hosts`, so that it is clear which one the new capability is for.',
      { reason: 'connection_several', extras: { refused_by: 'capability', scope: held.scope } },
    )
  return first
}

const definedOf = ({ hosts, path_prefixes, methods }: WantedScope) => ({
  ...(hosts && { hosts }),
  ...(path_prefixes && { path_prefixes }),
  ...(methods && { methods }),
})

const nothingCovers = ({ scope }: HeldCapability) =>
  new GatewayError(
    'scope_denied',
    'The person who connected this assistant allowed no credential for this address, path and method. What they allowed is in `scope`; ask ' +
      'them to change the connection in the console of this gateway.',
    { reason: 'connection_scope', extras: { refused_by: 'capability', scope } },
  )
