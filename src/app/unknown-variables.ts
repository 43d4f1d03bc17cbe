// Decides which variables of the environment look like the gateway's and are read by nobody, so that a misspelled one is
// not ignored in silence. Values are left to config.ts and never shown.
import { distanceWithin } from '../lib/edit-distance.ts'
import { CONFIGURATION_NAMES } from './variables.ts'

const PREFIX = 'GATEWAY_'
/** Any chain may follow; a malformed one is refused by config.ts. */
const RPC_PREFIX = 'GATEWAY_RPC_'
/** Two slips in a short name; every fourth character may be wrong in a long one. */
const limitOf = (name: string) => Math.max(2, Math.floor(name.length / 4))

/**
 * @param env environment variables, as process.env holds them; empty ones count as unset
 * @returns a sentence for each variable that begins as the gateway's do and is none of them. These are warnings and no errors,
 * because another program may share the prefix
 */
export function describeUnknownVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const unknown = Object.keys(env).filter(
    (name) =>
      name.startsWith(PREFIX) &&
      !name.startsWith(RPC_PREFIX) &&
      env[name] !== '' &&
      !CONFIGURATION_NAMES.includes(name),
  )
  return unknown.toSorted().map((name) => {
    const nearest = findNearest(name)
    const advice =
      nearest === undefined ? 'docs/configuration.md lists those that are.' : `Did you mean ${nearest}?`
    return `${name} is no variable of the gateway and is not read. ${advice}`
  })
}

/** Compares what follows the prefix, which PORT and HOST are without. A name that was cut short is one step away. */
function findNearest(name: string): string | undefined {
  const wanted = withoutPrefix(name)
  const limit = limitOf(wanted)
  const [nearest] = CONFIGURATION_NAMES.map((known) => {
    const rest = withoutPrefix(known)
    return { known, distance: rest.startsWith(`${wanted}_`) ? 1 : distanceWithin(limit, wanted, rest) }
  })
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
  return nearest?.known
}

const withoutPrefix = (name: string) => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name)
