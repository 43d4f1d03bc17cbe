// Sample sources that ship with the gateway: what a demo of a paid capability reads instead of the world.
import { createHash } from 'node:crypto'
import { samplePages } from '../../data/samples/index.ts'
import type { SourceReader } from '../ports.ts'

/** A reserved name: no request ever leaves for it. */
export const SAMPLE_ORIGIN = 'https://samples.agent-gateway.test'

/** Reads the samples of the demos; any other address is not found. */
export function createSampleReader(now: () => number): SourceReader {
  const pages = samplePages(SAMPLE_ORIGIN)
  return {
    async read(url) {
      const page = url.startsWith(SAMPLE_ORIGIN) ? pages.get(url.slice(SAMPLE_ORIGIN.length)) : undefined
      if (!page)
        return {
          ok: false,
          reason: 'http_status',
          detail: 'There is no such sample page. Leave the sources out to get the sample of this capability.',
          httpStatus: 404,
        }
      return {
        ok: true,
        source: {
          url,
          status: 200,
          contentType: page.contentType,
          contentLanguage: page.contentLanguage ?? null,
          etag: null,
          lastModified: null,
          body: page.body,
          isCut: false,
          sha256: createHash('sha256').update(page.body).digest('hex'),
          retrievedAt: now(),
          ageSeconds: 0,
          cache: 'miss',
        },
      }
    },
  }
}
