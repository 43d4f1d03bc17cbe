// A picture that others put on their pages: the score of a service on the marketplace. It shows what this gateway computed from its own
// looks at the service. A score that somebody else could choose has no address here, so a badge of this host means something.
import { drawChallengeBadge } from '../../commerce/rubric/badge.ts'
import { GatewayError } from '../../core/errors.ts'
import { sendPublicText } from '../http/document.ts'
import type { Exchange } from '../http/resource.ts'
import type { SiteParts } from './ports.ts'

/** @throws {GatewayError} service_not_found */
export async function sendBadge(
  { marketplace }: Pick<SiteParts, 'marketplace'>,
  { req, res, context, params }: Exchange,
): Promise<void> {
  const sold = (await marketplace?.sold()) ?? []
  const service = sold.find(
    ({ seller, service_id }) => seller === params['seller'] && service_id === params['service_id'],
  )
  if (!service) throw new GatewayError('service_not_found', 'No service of this name is sold here.')
  await sendPublicText(req, res, {
    text: drawChallengeBadge(service.stats.challenge_score),
    headers: {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=300',
      // Pages of other sites show it; a browser that opens it alone runs nothing in it.
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'x-request-id': context.requestId,
    },
    isTagged: true,
    isForEverybody: true,
  })
}
