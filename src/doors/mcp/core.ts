// The fast path, the SDK and stdio share this: the catalogue, and who sees which part of it.
import { createHash } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import type { DoorParts } from '../parts.ts'
import { type Audience, type Catalogue, createCatalogue } from './catalogue.ts'
import type { McpExtension } from './extension.ts'
import { chooseSpelling, createSessionIds, type SessionIds, type Spelling } from './names.ts'
import type { Link } from './link.ts'

export interface McpCore {
  readonly parts: DoorParts
  readonly catalogue: Catalogue
  readonly sessions: SessionIds
  readonly extension: McpExtension | undefined
  spellingOf(link: Link): Spelling
  audienceOf(link: Link): Promise<Audience>
}

/** The catalogue, the sessions and the audience that the fast path, the SDK and stdio share. */
export function createCore(parts: DoorParts, extension: McpExtension | undefined): McpCore {
  return {
    parts,
    extension,
    catalogue: createCatalogue(parts.registry, parts.addresses, extension ?? { tools: [], capabilities: {} }),
    sessions: createSessionIds(sessionKey(parts)),
    spellingOf: (link) => chooseSpelling(parts.config.mcpNames, { clientName: undefined, ...link }),

    /** An invalid key shows the public list: what is wrong with it is said where it is used. */
    async audienceOf({ tokens, address }) {
      const key: { bearer?: string } = tokens.bearer?.startsWith('agw_sk_') ? { bearer: tokens.bearer } : {}
      try {
        const caller = await parts.calls.admit('tools/list', key, address, key.bearer ? 'seller' : 'anyone')
        if (caller.kind === 'seller') return 'seller'
        return caller.kind !== 'operator' ? 'public' : caller.admin ? 'admin' : 'operator'
      } catch (thrown) {
        if (thrown instanceof GatewayError && thrown.status === 401) return 'public'
        throw thrown
      }
    },
  }
}

/** The key is the same in every replica and after every restart: replicas are sure to share the database. */
function sessionKey({ config, deriveKey }: DoorParts): Buffer {
  if (config.databaseUrl === undefined) return deriveKey('mcp-session').export()
  return createHash('sha256').update(`mcp session ids ${config.databaseUrl}`).digest()
}
