import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ProductOffersResult } from '../../../schemas/product-offers.ts'
import type { Coverage, RetrievedSource } from '../../../schemas/sources.ts'
import { productOffers } from '../../../src/outcomes/capabilities/product-offers.ts'
import type { Analyser, Gather, Gathered, RunContext } from '../../../src/outcomes/ports.ts'
import { inThread } from '../../support/outcomes.ts'

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

const kettle = (price: string, more: object = {}) =>
  `<script type="application/ld+json">${JSON.stringify({
    '@type': 'Product',
    name: 'Kettle',
    gtin13: '4006381333931',
    offers: { '@type': 'Offer', price, priceCurrency: 'EUR' },
    ...more,
  })}</script>`

/** Gathers from a map of pages: what a reader would have fetched. */
function gatherFrom(pages: Readonly<Record<string, string>>, seen: unknown[] = []): Gather {
  return async (sources, options, analyse) => {
    seen.push({ sources, wanted: options.wanted, maxAgeSeconds: options.maxAgeSeconds })
    const usable: Gathered<never>[] = []
    const covered: Coverage['sources'] = []
    for (const [at, { url }] of sources.entries()) {
      const body = Buffer.from(pages[url] ?? '')
      const reading = await analyse({
        body,
        isCut: false,
        contentType: 'text/html',
        contentLanguage: null,
        url,
      })
      covered.push({
        requested: url,
        ok: reading.ok,
        fallback_used: false,
        reason: reading.ok ? null : reading.reason,
        attempts: [],
        retrieved: null,
      })
      if (reading.ok)
        usable.push({
          source: at,
          fetched: {
            url,
            status: 200,
            contentType: 'text/html',
            contentLanguage: null,
            etag: null,
            lastModified: null,
            body,
            isCut: false,
            sha256: sha256(body),
            retrievedAt: 0,
            ageSeconds: 0,
            cache: 'miss',
          },
          retrieved: { bytes: body.length } as RetrievedSource,
          reading: reading as Gathered<never>['reading'],
        })
    }
    const coverage: Coverage = {
      asked: sources.length,
      usable: usable.length,
      failed: sources.length - usable.length,
      complete: usable.length === sources.length,
      sources: covered,
    }
    return { coverage, usable: usable as never }
  }
}

const contextOf = (gather: Gather, analyser: Analyser = inThread): RunContext => ({
  signal: new AbortController().signal,
  gather,
  analyser,
})

const A = 'https://a.example/kettle'
const B = 'https://b.example/kettle'
const job = (urls: string[], more: [string, unknown][] = []) =>
  productOffers.prepare(new Map<never, unknown>([['urls', urls], ...more] as never), { isDemo: false })

async function resultOf(pages: Record<string, string>) {
  const delivered = await job(Object.keys(pages)).run(contextOf(gatherFrom(pages)))
  return { delivered, result: ProductOffersResult.parse(delivered.result) }
}

describe('product-offers', () => {
  it('normalises the request, the same for every way to name the sources', () => {
    const request = {
      sources: [
        { url: A, fallbacks: [] },
        { url: B, fallbacks: [] },
      ],
      max_age_seconds: 0,
      redirects: 'same_site',
    }
    expect(job([A, B]).request).toEqual(request)
    const mixed = new Map<never, unknown>([
      ['url', A],
      ['sources', [B]],
    ] as never)
    expect(productOffers.prepare(mixed, { isDemo: false }).request).toEqual(request)
  })

  it('asks for products as fresh as the request wants them', async () => {
    const seen: unknown[] = []
    await job([A], [['max_age_seconds', 30]]).run(contextOf(gatherFrom({ [A]: kettle('5') }, seen)))
    expect(seen).toEqual([{ sources: [{ url: A, fallbacks: [] }], wanted: 'product', maxAgeSeconds: 30 }])
  })

  it('puts two shops side by side', async () => {
    const { result, delivered } = await resultOf({ [A]: kettle('5.50'), [B]: kettle('5.05') })
    expect(result.groups).toMatchObject([
      { key: 'gtin:04006381333931', currency: 'EUR', entries: [{ product: 'p2' }, { product: 'p1' }] },
    ])
    expect(result).toMatchObject({
      sample: false,
      sample_notice: null,
      unranked: [],
      missing_identifiers: [],
    })
    expect(result.products.map(({ id, source, url }) => [id, source, url])).toEqual([
      ['p1', 0, A],
      ['p2', 1, B],
    ])
    expect(delivered.sources.map(({ url, sha256: digest }) => [url, digest])).toEqual([
      [A, sha256(kettle('5.50'))],
      [B, sha256(kettle('5.05'))],
    ])
    expect(delivered.parts).toEqual([
      { pointer: '/products/0/name', sha256: sha256('Kettle') },
      { pointer: '/products/1/name', sha256: sha256('Kettle') },
    ])
  })

  it('delivers the page that states a product and names the one that does not', async () => {
    const { result } = await resultOf({
      [A]: kettle('5', { gtin13: '4006381333932' }),
      [B]: '<p>Kettle, 5 €</p>',
    })
    expect(result.unsupported_pages).toEqual([{ url: B, reason: 'no_product' }])
    expect(result.missing_identifiers).toEqual(['p1'])
    expect(result.products[0]!.issues).toEqual(['identifier_missing', 'gtin_invalid'])
    expect(result.pages).toEqual([
      {
        source: 0,
        url: A,
        main_product: 'p1',
        products: 1,
        json_ld_scripts: 1,
        json_ld_invalid: 0,
        json_ld_repaired: [],
      },
    ])
    expect(result.coverage).toMatchObject({ asked: 2, usable: 1, failed: 1, complete: false })
  })

  it('calls no page unsupported that did not answer', async () => {
    const pages = gatherFrom({ [A]: kettle('5') })
    const gather: Gather = async (sources, options, analyse) => {
      const { coverage, usable } = await pages(sources, options, analyse)
      const [first, second] = coverage.sources
      return { coverage: { ...coverage, sources: [first!, { ...second!, reason: 'timeout' }] }, usable }
    }
    const { result } = await job([A, B]).run(contextOf(gather))
    expect(result).toMatchObject({ unsupported_pages: [], coverage: { failed: 1 } })
  })

  it('charges nothing where no page states a product', async () => {
    const run = job([A]).run(contextOf(gatherFrom({ [A]: '<p>Hello</p>' })))
    await expect(run).rejects.toMatchObject({
      code: 'sources_unusable',
      extras: { coverage: { usable: 0, sources: [{ reason: 'no_product' }] } },
    })
  })

  it.each(['budget_exceeded', 'unreadable'] as const)(
    'reports a page whose reading ended as %s',
    async (reason) => {
      const analyser: Analyser = { run: async () => ({ ok: false, reason }), close: async () => {} }
      const run = job([A]).run(contextOf(gatherFrom({ [A]: kettle('5') }), analyser))
      await expect(run).rejects.toMatchObject({ extras: { coverage: { sources: [{ reason }] } } })
    },
  )

  it('is labelled where it is a sample, and reads the shops that ship with the gateway', async () => {
    const pages = {
      'https://samples.agent-gateway.test/shop/sencha-a': kettle('5'),
      'https://samples.agent-gateway.test/shop/sencha-b': kettle('6'),
    }
    const delivered = await productOffers
      .prepare(new Map(), { isDemo: true })
      .run(contextOf(gatherFrom(pages)))
    expect(ProductOffersResult.parse(delivered.result)).toMatchObject({
      sample: true,
      sample_notice: expect.stringContaining('invented'),
      groups: [{ entries: [{ product: 'p1' }, { product: 'p2' }] }],
    })
  })

  it('gives the same result for the same bytes', async () => {
    const pages = { [A]: kettle('5.50'), [B]: kettle('5.05') }
    expect((await resultOf(pages)).result).toEqual((await resultOf(pages)).result)
  })
})
