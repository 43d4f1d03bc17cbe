// Ids of sellers and services: what may be one, and which look like each other. They stand in addresses and receipts for ever, so a
// name that a reader takes for another is refused when it is made, not argued about later.
import { OWN_SELLER_NAME } from '../own-listing.ts'
import { mixesScripts, skeletonOf } from '../../email/confusable.ts'

/** First parts of addresses that mean something else, and whom nobody may pass for. */
const RESERVED = [
  'gateway',
  'agent-gateway',
  'agw',
  'testnet',
  'sandbox',
  'v1',
  'api',
  'admin',
  'www',
  'openapi',
  'llms',
  'operator',
  'system',
  'support',
  'official',
  'marketplace',
  // Pages beside those of sellers: `/marketplace/sell`.
  'sell',
  'figures',
  'x402',
]

export const MAX_SELLER_ID = 40
export const MAX_SERVICE_ID = 64
const SLUG = /^[a-z0-9](?:[a-z0-9]|-(?!-)){0,62}[a-z0-9]$/

/** How a character or a pair of them is drawn in common fonts. Wide letters are written as the narrow ones that they look made of. */
const DRAWN: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', i: 'l', 5: 's', m: 'rn', w: 'vv', '-': '' }

/** What an id looks like: the same text for two ids that a reader takes for each other. */
export const lookOf = (slug: string): string => slug.replaceAll(/[01i5mw-]/g, (char) => DRAWN[char] ?? char)

const RESERVED_LOOKS = new Set(RESERVED.map(lookOf))
/** Nowhere in a name: `gateway-official` reads like ours. */
const OURS = ['gateway', 'agentgw'].map(lookOf)

export type NameVerdict = { readonly ok: true } | { readonly ok: false; readonly why: string }

const refuse = (why: string): NameVerdict => ({ ok: false, why })

/** Whether this may be the id of a seller; whether it is free, the store knows. */
export function checkSellerId(id: string): NameVerdict {
  if (!SLUG.test(id) || id.length < 3 || id.length > MAX_SELLER_ID)
    return refuse(
      `Use 3 to ${MAX_SELLER_ID} of a-z, 0-9 and single hyphens, with a letter or digit at both ends.`,
    )
  const look = lookOf(id)
  if (RESERVED_LOOKS.has(look) || OURS.some((ours) => look.includes(ours)))
    return refuse('This name is reserved, or looks like one that is. Choose another.')
  return { ok: true }
}

/** Whether this may be the id of a service. It has no dot, so that `openapi.json` beside it is none. */
export function checkServiceId(id: string): NameVerdict {
  if (!SLUG.test(id) || id.length < 2 || id.length > MAX_SERVICE_ID)
    return refuse(
      `Use 2 to ${MAX_SERVICE_ID} of a-z, 0-9 and single hyphens, with a letter or digit at both ends.`,
    )
  return { ok: true }
}

/** Letters and digits alone: how a name is shown leaves the rest to the eye. */
const bare = (text: string) =>
  skeletonOf(text.normalize('NFKC'))
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
const OUR_NAME = lookOf(bare(OWN_SELLER_NAME))

/** Whether a seller or a service may be shown under this name. */
export function checkShownName(name: string): NameVerdict {
  if (lookOf(bare(name)).includes(OUR_NAME))
    return refuse(`The name reads like ${OWN_SELLER_NAME}, which is this gateway. Choose another.`)
  if (name.split(/[^\p{L}\p{M}\p{N}]+/u).some((word) => mixesScripts(word)))
    return refuse('A word of the name mixes scripts that imitate each other. Write each word in one script.')
  return { ok: true }
}
