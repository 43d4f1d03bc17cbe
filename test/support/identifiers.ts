// Payment identifiers of a buyer who draws them at random.
import { randomUUID } from 'node:crypto'
import { isUnguessable } from '../../src/payments/secrets.ts'

/** One that the gateway takes for a secret, in the form of the stock client. One UUID in 1,800 does not look random enough. */
export function unguessableIdentifier(): string {
  const drawn = `pay_${randomUUID()}`
  return isUnguessable(drawn) ? drawn : unguessableIdentifier()
}
