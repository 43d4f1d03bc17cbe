// Payment identifiers of a buyer who draws them at random.
import { randomUUID } from 'node:crypto'
import { isUnguessable } from '../../src/payments/secrets.ts'

/** One that the gateway takes for a secret, in the form of the stock client. One UUID in 1,800 does not look random enough. */
export function unguessableIdentifier(draw = () => `pay_${randomUUID()}`): string {
  const drawn = draw()
  return isUnguessable(drawn) ? drawn : unguessableIdentifier(draw)
}
