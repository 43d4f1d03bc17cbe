// How a refund that was asked for is told: one that failed is no success, whoever asked.
import { Exit } from './exit.ts'
import { printRecord } from './output.ts'

export function printRefund(
  refund: { readonly state: string; readonly failure?: string | null },
  options: { readonly json?: boolean },
): void {
  printRecord(refund, options)
  if (refund.state !== 'failed') return
  process.exitCode = Exit.failed
  process.stderr.write(
    `agent-gateway: nothing was sent${refund.failure ? ` (${refund.failure})` : ''}, and this refund is not tried again: mend the cause and refund anew with another --reference.\n`,
  )
}
