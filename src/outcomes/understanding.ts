// What a request was understood as, told with its price: whoever pays knows before that what will be done, and what will not.
import type { CapabilityFacts } from './descriptors.ts'
import { listUndone } from './repair.ts'
import type { Resolution } from './resolve.ts'
import { isShowable } from './showable.ts'
import { requestedSources } from './sources/requested.ts'

/** A member of a 402: plain JSON. */
export interface Understanding {
  readonly capability: string
  /** A sentence for people. */
  readonly in_words: string
  /** Addresses without secrets; those that hold one are only counted. */
  readonly sources: readonly string[]
  readonly source_count: number
  readonly limit: number | null
  readonly query: string | null
  /** JSON Pointers of input that the capability has no use for. */
  readonly ignored: readonly string[]
  readonly left_out: ReturnType<typeof listUndone>
}

/** Tells the job of a request with what is left out of it. */
export function tellUnderstanding(
  resolution: Resolution & { readonly ok: true },
  { id, name, delivered }: CapabilityFacts,
): Understanding {
  const { claims, ignored, leftOut } = resolution
  const urls = requestedSources(claims).map(({ url }) => url)
  const query = claims.get('query') as string | undefined
  const limit = claims.get('limit') as number | undefined
  const left = listUndone(leftOut)
  const sources = urls.filter(isShowable)
  const isShown = query !== undefined && isShowable(query)
  return {
    capability: id,
    in_words: [
      `${name} of ${urls.length === 0 ? 'the default sources' : countOf(urls.length)}.`,
      ...(isShown ? [`Passages about: ${query}.`] : []),
      ...(limit === undefined ? [] : [`At most ${limit} entries.`]),
      `You get: ${delivered}`,
      ...left.map((one) => `Left out: ${one.name}. ${one.why}`),
    ].join(' '),
    sources,
    source_count: urls.length,
    limit: limit ?? null,
    query: isShown ? query : null,
    ignored: [...ignored],
    left_out: left,
  }
}

const countOf = (count: number) => (count === 1 ? '1 source' : `${count} sources`)
