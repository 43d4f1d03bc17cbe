// extract-preview: supplied HTML in, normalised document out. No network, no clock, no state.
import { toUSVString } from 'node:util'
import { digestText } from '../digest.ts'
import { countCharacters } from '../extract/text.ts'
import type { Capability } from '../ports.ts'
import { SAMPLE_BASE_URL, SAMPLE_HTML } from '../sample.ts'

export const extractPreview: Capability = {
  id: 'extract-preview',
  needs: ['html'],
  uses: ['html', 'url', 'format'],
  prepare(claims, { isDemo }) {
    // Half a surrogate pair has no UTF-8: as a digest would, the text takes U+FFFD for it.
    const html = isDemo ? SAMPLE_HTML : toUSVString(String(claims.get('html')))
    const baseUrl = isDemo ? SAMPLE_BASE_URL : (claims.get('url') as string | undefined)
    const htmlSha256 = digestText(html)
    return {
      request: {
        source: isDemo ? 'sample' : 'supplied',
        html_sha256: htmlSha256,
        html_characters: countCharacters(html),
        base_url: baseUrl !== undefined && /^https?:/i.test(baseUrl) ? baseUrl : null,
      },
      async run() {
        // Seventy modules and the models of a language detector: a gateway that is asked for no preview has none of them.
        const { previewHtml } = await import('./preview-html.ts')
        const result = previewHtml({ html, baseUrl, isSample: isDemo })
        return {
          result,
          sourceSha256: htmlSha256,
          textSha256: digestText(result.document.text),
          sources: [],
          parts: [],
          deterministic: true,
        }
      },
    }
  },
}
