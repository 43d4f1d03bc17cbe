// Peer of the verify benchmark: the protocol's own facilitator (@x402/core, @x402/evm over viem with batched RPC) behind
// node:http, on the same chain.
import { createServer } from 'node:http'
import type { Hex } from 'viem'
import { createReferenceFacilitator } from '../../test/support/reference-facilitator.ts'

const facilitator = createReferenceFacilitator({
  chainId: Number(process.env['CHAIN_ID']),
  rpcUrl: process.env['RPC_URL']!,
  settlerKey: process.env['SETTLER_KEY'] as Hex,
})

const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', async () => {
    const { paymentPayload, paymentRequirements } = JSON.parse(Buffer.concat(chunks).toString()) as Record<
      string,
      unknown
    >
    const answer = await facilitator.verify(paymentPayload, paymentRequirements)
    // What is not valid is no measurement: the load client stops at anything but 200.
    res.writeHead(answer.isValid ? 200 : 500, { 'content-type': 'application/json' })
    res.end(JSON.stringify(answer))
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  console.log(`listening on http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => process.exit(0))
