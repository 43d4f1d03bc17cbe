// Where an answer leads, as the program behind a base URL has to read it. To the upstream a path begins at its own host; behind a base URL it would
// begin at the gateway: another credential, or a tool, called with the program's capability by the word of an upstream.
import type { HeaderPairs } from '../../egress/headers.ts'

/** Stands for the upstream, whose host this door does not know; nobody has this name (RFC 6761). */
const UPSTREAM = 'https://upstream.invalid'

/**
 * @param behind path that stood behind the name of the credential, as the program wrote it
 * @param own hosts of the gateway, with their ports
 * @returns paths of the upstream relative to `behind`, so that they lead to the same place at every address the program may know; no
 * address of the gateway itself
 */
export function keepWithin(headers: HeaderPairs, behind: string, own: readonly string[]): HeaderPairs {
  return headers.flatMap(([name, value]) => {
    if (name !== 'location') return [[name, value] as const]
    const to = URL.parse(value, UPSTREAM + behind)
    if (!to || own.includes(to.host)) return []
    return [[name, to.origin === UPSTREAM ? relative(to, behind) : to.href] as const]
  })
}

function relative({ pathname, search, hash }: URL, behind: string): string {
  const [path = '/'] = behind.split('?', 1)
  const above = path.split('/').length - 2
  return (above > 0 ? '../'.repeat(above) : './') + pathname.slice(1) + search + hash
}
