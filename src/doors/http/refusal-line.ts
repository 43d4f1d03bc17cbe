// The line of a request that a door refused before it became a call; the call path writes the others. It says which request and why,
// never whose: addresses are personal, and no line of the gateway holds one.
import type { GatewayError } from '../../core/errors.ts'
import { LogField, type Logger } from '../../lib/log.ts'

/** Whoever writes to a door can be refused as often as they like: only a fault of the gateway is an error, and has a stack. */
export function logRefusal(
  log: Pick<Logger, 'info' | 'error'>,
  error: GatewayError,
  { requestId, door }: { readonly requestId: string; readonly door?: string },
): void {
  const { code, reason } = error
  const line = {
    [LogField.requestId]: requestId,
    [LogField.door]: door,
    [LogField.code]: code,
    [LogField.reason]: reason,
  }
  if (code === 'internal') log.error({ ...line, err: error.cause ?? error }, 'door failed')
  else log.info(line, 'refused')
}
