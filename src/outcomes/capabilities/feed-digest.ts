import { GatewayError } from '../../errors.ts'
import type { Capability } from '../ports.ts'

/** @param defaults feeds that are read where the request names none */
export function createFeedDigest(_parts: { readonly defaults: readonly string[] }): Capability {
  return {
    id: 'feed-digest',
    needs: [],
    uses: ['url', 'urls', 'sources', 'limit', 'max_age_seconds'],
    prepare() {
      throw new GatewayError('tool_unavailable', 'Not built yet.')
    },
  }
}
