// `demo`: pays for every paid tool of a sandbox once, with test money, and shows what happened to whom.
import type { Command } from 'commander'
import { addConnectionOptions, type ConnectionOptions } from '../options.ts'

/** `demo`: buys one of each thing that is sold, with test money, and checks every receipt. */
export function addDemoCommand(program: Command): void {
  addConnectionOptions(program.command('demo'))
    .description('pay for every paid tool of the sandbox once, with test money')
    .addHelpText(
      'after',
      `
Uses the sandbox that owns GATEWAY_DATA_DIR; without one, starts a sandbox in this process and ends it afterwards. Every tool is
asked without a payment first, answers 402, and is then paid with a signature of the test payer (x402, exact, EIP-3009), as any
x402 client would. Printed: what each call cost, the transaction, whether the receipt verifies, and all balances before and after.
A permit for one request is prepared, executed with one of the credits just bought, and refused the second time. At the end the sample
API is brought to the market from its OpenAPI document, bought from, and its seller is paid.
Nothing here can touch real money: a gateway in production mode is refused.`,
    )
    .action(async (options: ConnectionOptions) => {
      const { demo } = await import('./run.ts')
      await demo(options)
    })
}
