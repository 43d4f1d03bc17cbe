import type { Fault } from '../../fault.ts'
import type { Sender } from '../ports.ts'

export function createSender(_options: { fault: Fault }): Sender {
  throw new Error('being written')
}
