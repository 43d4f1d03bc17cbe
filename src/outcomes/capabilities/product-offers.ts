import { GatewayError } from '../../errors.ts'
import type { Capability } from '../ports.ts'

export const productOffers: Capability = {
  id: 'product-offers',
  needs: ['url', 'urls', 'sources'],
  uses: ['url', 'urls', 'sources', 'max_age_seconds'],
  prepare() {
    throw new GatewayError('tool_unavailable', 'Not built yet.')
  },
}
