// Whether a request inside a tunnel is for the host of the tunnel, and can be read in one way alone.
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../core/errors.ts'
import { findEncodedToken } from '../../lib/tokens.ts'
import type { Destination } from './ports.ts'

/**
 * @param servername of the TLS hello; `false` or undefined where it named none
 * @throws {GatewayError} host_mismatch (421), request_invalid
 */
export function checkInnerRequest(
  req: Pick<IncomingMessage, 'url' | 'rawHeaders' | 'method' | 'httpVersion' | 'headers'>,
  { host, port }: Destination,
  servername: string | false | null | undefined,
): void {
  const hosts = req.rawHeaders.filter(
    (_, at) => at % 2 === 1 && req.rawHeaders[at - 1]?.toLowerCase() === 'host',
  )
  const [named] = hosts
  if (hosts.length !== 1 || named === undefined)
    throw new GatewayError('request_invalid', 'Send exactly one Host header.', { reason: 'host_count' })
  const names = port === 443 ? [host, `${host}:443`] : [`${host}:${port}`]
  if (!names.includes(named.toLowerCase()))
    throw mismatch('The Host header names another host than the CONNECT of this connection.', 'host')
  if (servername && servername.toLowerCase() !== host)
    throw mismatch('The TLS server name is another one than the host of the CONNECT.', 'server_name')
  // RFC 9112, 3.2.1: inside the tunnel the client talks to the origin, which has no use for another form.
  if (req.url?.startsWith('/') !== true)
    throw new GatewayError('request_invalid', 'Inside a tunnel the request target is a path.', {
      reason: 'target_form',
    })
  const coding = req.headers['transfer-encoding']
  if (coding !== undefined && (coding.trim().toLowerCase() !== 'chunked' || req.httpVersion !== '1.1'))
    throw new GatewayError('request_invalid', 'Send the body with Content-Length, or chunked in HTTP/1.1.', {
      reason: 'framing',
    })
}

const mismatch = (detail: string, reason: string) => new GatewayError('host_mismatch', detail, { reason })

/** @throws {GatewayError} header_forbidden: nothing is put in its place here, so it would go out as it is */
export function refuseOwnTokens({ rawHeaders, url }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): void {
  if (![...rawHeaders, url ?? ''].some(findEncodedToken)) return
  throw new GatewayError(
    'header_forbidden',
    'A token of this gateway is not sent to a host that it holds no credential for. Leave it out, or ask the operator for a credential for this host.',
    {
      reason: 'own_token',
    },
  )
}
