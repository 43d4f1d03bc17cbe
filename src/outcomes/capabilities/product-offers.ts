// product-offers: up to three product pages in, their stated offers out, side by side where that is honest.
import type { Product, ProductOffersResult } from '../../../schemas/product-offers.ts'
import type { RedirectRule, SourceReason } from '../../../schemas/sources.ts'
import { digestText } from '../digest.ts'
import type { Capability, Delivered, Gathered, PreparedJob, RunContext, SourceRequest } from '../ports.ts'
import { POOR_REASONS } from '../extract/poor/reasons.ts'
import { compareOffers } from '../products/compare.ts'
import type { PageProducts } from '../products/page.ts'
import { SAMPLE_NOTICE } from '../sample.ts'
import { citeSources, readMaxAge, readRedirects, showSources, toReading } from './source-job.ts'
import { requestedSources } from '../sources/requested.ts'
import { sourcesUnusable } from '../sources/unusable.ts'

const SAMPLES: readonly SourceRequest[] = ['sencha-a', 'sencha-b'].map((name) => ({
  url: `https://samples.agent-gateway.test/shop/${name}`,
  fallbacks: [],
}))

export const productOffers: Capability = {
  id: 'product-offers',
  needs: ['url', 'urls', 'sources'],
  uses: ['url', 'urls', 'sources', 'max_age_seconds', 'redirects'],
  prepare(claims, { isDemo }): PreparedJob {
    const sources = isDemo ? SAMPLES : requestedSources(claims)
    const maxAgeSeconds = readMaxAge(claims, isDemo)
    const redirects = readRedirects(claims)
    return {
      request: {
        sources: showSources(sources),
        max_age_seconds: maxAgeSeconds,
        redirects,
      },
      run: (context) => compareSources({ sources, maxAgeSeconds, redirects, isDemo }, context),
    }
  },
}

interface Job {
  readonly sources: readonly SourceRequest[]
  readonly maxAgeSeconds: number
  readonly redirects: RedirectRule
  readonly isDemo: boolean
}

async function compareSources(job: Job, { gather, analyser, signal }: RunContext): Promise<Delivered> {
  const { coverage, usable } = await gather<PageProducts>(
    job.sources,
    { wanted: 'product', maxAgeSeconds: job.maxAgeSeconds, redirects: job.redirects, signal },
    async (input) => toReading(await analyser.run('products', input), UNREADABLE),
  )
  if (usable.length === 0)
    throw sourcesUnusable(
      'No source stated a product that can be read, so nothing was charged. `coverage` says why for each; send the ' +
        'addresses of pages of single products.',
      coverage,
    )
  const result = compose(job, coverage, usable)
  return {
    result,
    sourceSha256: null,
    textSha256: null,
    sources: citeSources(usable),
    parts: result.products.flatMap(({ name }, at) =>
      name === null ? [] : [{ pointer: `/products/${at}/name`, sha256: digestText(name) }],
    ),
    // The coverage says when each source was read.
    deterministic: true,
  }
}

const UNREADABLE = {
  budget_exceeded: 'Reading the page took longer than a page may take. Send a smaller page of one product.',
  unreadable: 'The page could not be read. Send another address of the product.',
} as const

/** A page that answered, and what it answered is no product page; who did not answer is in the coverage only. */
const UNSUPPORTED: ReadonlySet<SourceReason> = new Set<SourceReason>([
  ...POOR_REASONS,
  'no_product',
  'no_content',
  'empty',
  'binary',
  'type_unsupported',
  'invalid_json',
  'budget_exceeded',
  'unreadable',
])

function compose(
  { isDemo }: Job,
  coverage: ProductOffersResult['coverage'],
  usable: readonly Gathered<PageProducts>[],
): ProductOffersResult {
  const products: Product[] = []
  const pages: ProductOffersResult['pages'] = []
  const truncated = new Set<string>()
  for (const { source, fetched, reading } of usable) {
    const { value } = reading
    for (const product of value.products) products.push({ id: `p${products.length + 1}`, source, ...product })
    for (const name of value.truncated) truncated.add(`${source}/${name}`)
    pages.push({
      source,
      url: fetched.url,
      main_product: products.find((product) => product.source === source && product.main)?.id ?? null,
      products: value.products.length,
      json_ld_scripts: value.jsonLd.scripts,
      json_ld_invalid: value.jsonLd.invalid,
      json_ld_repaired: [...value.jsonLd.repaired],
    })
  }
  const { groups, unranked } = compareOffers(
    products,
    new Map(
      usable.map(({ source, fetched, retrieved }) => [
        source,
        { host: new URL(fetched.url).hostname, retrievedAt: retrieved.retrieved_at },
      ]),
    ),
  )
  return {
    sample: isDemo,
    sample_notice: isDemo ? SAMPLE_NOTICE : null,
    trust: 'untrusted',
    products,
    groups: [...groups],
    unranked: [...unranked],
    missing_identifiers: products
      .filter(({ identifiers }) => !identifiers.some(({ valid }) => valid))
      .map(({ id }) => id),
    unsupported_pages: coverage.sources.flatMap(({ requested, reason }) =>
      reason !== null && UNSUPPORTED.has(reason) ? [{ url: requested, reason }] : [],
    ),
    pages,
    truncated: [...truncated],
    coverage,
  }
}
