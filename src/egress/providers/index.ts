// The providers by name: where their API is, where it takes its secrets, and which of its addresses hand out further
// credentials. Data, in the files beside this one; an operator adds others in a file of its own. `custom` brings everything itself.
import { createSpellings } from '../rules/rules.ts'
import { clouds } from './clouds.ts'
import { code } from './code.ts'
import { first } from './first.ts'
import { messaging } from './messaging.ts'
import { models } from './models.ts'
import { payments } from './payments.ts'
import { type DeniedPath, type Provider, ProviderEntry } from './schema.ts'
import { search } from './search.ts'
import { vectors } from './vectors.ts'
import { work } from './work.ts'

export type { DeniedPath, Provider } from './schema.ts'

/** The id of credentials that say themselves where they go. */
export const CUSTOM = 'custom'

export interface Providers {
  get(id: string): Provider | undefined
  /** In the order in which documents show them, an operator's own last. */
  list(): readonly Provider[]
}

/** The gateway's own, `custom` among the first. */
export const builtIn: readonly Provider[] = [
  ...first,
  ...models,
  ...code,
  ...work,
  ...payments,
  ...messaging,
  ...clouds,
  ...search,
  ...vectors,
].map((entry) => ProviderEntry.parse(entry))

/** @param own an operator's, read by `readOwnProviders` */
export function createProviders(own: readonly Provider[] = []): Providers {
  const all = [...builtIn, ...own]
  const byId = new Map(all.map((provider) => [provider.id, provider]))
  return { get: (id) => byId.get(id), list: () => all }
}

/**
 * The rule that denies the request, when the provider answers it with another secret.
 * @param query as it stands in the URL, with its question mark
 */
export function findDeniedPath(
  { denied }: Pick<Provider, 'denied'>,
  { method, path, query = '' }: { readonly method: string; readonly path: string; readonly query?: string },
): DeniedPath | undefined {
  const rules = denied.filter((rule) => rule.method === undefined || rule.method === method)
  // Most providers have none for most methods, and this is asked for each request.
  if (rules.length === 0) return undefined
  const fits = createSpellings(path)
  return rules.find(
    ({ segments, word }) => fits(segments) && (word === undefined || wordsOf(query).has(word)),
  )
}

function wordsOf(query: string): ReadonlySet<string> {
  let text = query
  try {
    text = decodeURIComponent(query)
  } catch {
    // What is no escape of UTF-8 stays as it is.
  }
  return new Set(text.toLowerCase().split(/[^a-z0-9_]+/))
}
