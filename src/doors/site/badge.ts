// Pictures that others put on their pages. That of a service on the marketplace shows what this gateway computed from its own looks at it.
// That of a pasted sample shows what this gateway signed, and says that a sample is all that it is of: anybody can paste a good one.
import { drawChallengeBadge, drawSampleBadge } from '../../commerce/rubric/badge.ts'
import { RULESET_VERSION } from '../../commerce/rubric/model.ts'
import { GatewayError } from '../../core/errors.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import { sendPublicText } from '../http/document.ts'
import type { Exchange } from '../http/resource.ts'
import type { SiteParts } from './ports.ts'

/** @throws {GatewayError} service_not_found */
export async function sendServiceBadge(
  { marketplace }: Pick<SiteParts, 'marketplace'>,
  exchange: Exchange,
): Promise<void> {
  const { params } = exchange
  const sold = (await marketplace?.sold()) ?? []
  const service = sold.find(
    ({ seller, service_id }) => seller === params['seller'] && service_id === params['service_id'],
  )
  if (!service) throw new GatewayError('service_not_found', 'No service of this name is sold here.')
  const { seller, service_id } = service
  const { challenge_score: score, computed_at: computedAt } = service.stats
  await sendPicture(exchange, drawChallengeBadge(`${seller}/${service_id}`, score, computedAt))
}

/** @throws {GatewayError} not_found for what this gateway did not sign */
export async function sendSampleBadge(
  { services, now }: Pick<SiteParts, 'services' | 'now'>,
  exchange: Exchange,
): Promise<void> {
  const said = services.testBadges.read(exchange.params['statement'] ?? '')
  if (!said) throw new GatewayError('not_found', 'This gateway signed no score of this address.')
  const { protocol, score, level, report_hash, iat, exp } = said
  const picture = drawSampleBadge({
    protocol,
    score,
    level,
    report_hash,
    issuedAt: toTimestamp(iat * 1000),
    isOutOfDate: now() >= exp * 1000 || said.ruleset_version !== RULESET_VERSION,
    isSandbox: said.environment === 'sandbox',
  })
  await sendPicture(exchange, picture)
}

async function sendPicture({ req, res, context }: Exchange, picture: string): Promise<void> {
  await sendPublicText(req, res, {
    text: picture,
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
