// The fast path, the SDK and stdio share this: the catalogue, and who sees which part of it.
import { createHash } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import type { DoorParts } from '../parts.ts'
import type { Audience } from './audience.ts'
import { type Catalogue, createCatalogue } from './catalogue.ts'
import type { McpExtension } from './extension.ts'
import type { View } from './lists.ts'
import { chooseSpelling, type Spelling } from './names.ts'
import { createOffers, OFFERED, type Offers } from './offers.ts'
import { createSelections, type Selections } from './selection.ts'
import { createSessionIds, type SessionIds } from './session-ids.ts'
import type { Link } from './link.ts'

export interface McpCore {
  readonly parts: DoorParts
  readonly catalogue: Catalogue
  readonly sessions: SessionIds
  readonly extension: McpExtension | undefined
  readonly selections: Selections
  /** Resources, prompts, completion and skills. */
  readonly offers: Offers
  spellingOf(link: Link): Spelling
  /** What `initialize` settles: the view without the audience, which the token of each request decides. */
  settledFor(link: Link): Pick<View, 'spelling' | 'selection'>
  viewOf(link: Link): Promise<View>
}

/** The catalogue, the sessions and the view that the fast path, the SDK and stdio share. */
export function createCore(parts: DoorParts, extension: McpExtension | undefined): McpCore {
  const selections = createSelections(parts.registry)
  const spellingOf = ({ session, ...link }: Link): Spelling =>
    chooseSpelling(parts.config.mcpNames, { clientName: undefined, ...link, session: session?.spelling })
  const settledFor = (link: Link) => ({
    spelling: spellingOf(link),
    selection: link.selection ?? link.session?.selection,
  })
  const core = {
    parts,
    extension,
    catalogue: createCatalogue(parts.registry, parts.addresses, extension ?? { tools: [], ...OFFERED }),
    selections,
    sessions: createSessionIds(sessionKey(parts), selections.restore),
    spellingOf,
    settledFor,
    viewOf: async (link: Link) => ({ ...settledFor(link), audience: await audienceOf(parts, link) }),
  }
  return { ...core, offers: createOffers(core) }
}

/** An invalid token shows the public list: what is wrong with it is said where it is used. */
async function audienceOf({ calls }: DoorParts, { tokens, address, seen }: Link): Promise<Audience> {
  const { bearer } = tokens
  const isServiceKey = bearer?.startsWith('agw_sk_') ?? false
  const isEmailKey = bearer?.startsWith('agw_ek_') ?? false
  // A capability beside a service key takes nothing from what the key opens.
  const presented = isServiceKey ? { bearer } : tokens
  try {
    const wanted = isServiceKey ? 'seller' : 'anyone'
    const caller = await calls.admit('tools/list', presented, address, wanted, seen)
    switch (caller.kind) {
      case 'operator':
        return caller.admin ? 'admin' : 'operator'
      case 'agent':
        return isEmailKey ? 'public' : 'agent'
      case 'anonymous':
        return isEmailKey ? 'email' : 'public'
      default:
        return caller.kind
    }
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.status === 401) return 'public'
    throw thrown
  }
}

/** The key is the same in every replica and after every restart: replicas are sure to share the database. */
function sessionKey({ config, deriveKey }: DoorParts): Buffer {
  if (config.databaseUrl === undefined) return deriveKey('mcp-session').export()
  return createHash('sha256').update(`mcp session ids ${config.databaseUrl}`).digest()
}
