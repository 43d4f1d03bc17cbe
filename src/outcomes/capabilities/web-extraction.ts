import { GatewayError } from '../../errors.ts'
import type { Capability } from '../ports.ts'

export const webExtraction: Capability = {
  id: 'web-extraction',
  needs: ['url', 'urls', 'sources'],
  uses: ['url', 'urls', 'sources', 'max_age_seconds', 'query'],
  prepare() {
    throw new GatewayError('tool_unavailable', 'Not built yet.')
  },
}
