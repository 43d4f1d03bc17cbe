// Sends requests for the reserved name to the sample site, and everything else where it belongs. The sample site has a
// sender of its own, so that its throw-away certificate authority vouches for nothing else.
import type { Sender } from '../egress/ports.ts'
import { SANDBOX_HOST } from '../egress/target.ts'
import type { SampleSite } from './site.ts'

export function withSampleSite(
  outside: Sender,
  site: SampleSite,
  createSender: (ca: string) => Sender,
): Sender {
  let inside: Promise<{ sender: Sender; port: number; address: string }> | undefined

  async function open() {
    const { address, port, ca } = await site.start()
    return { sender: createSender(ca), port, address }
  }

  return {
    async send(request) {
      if (request.url.hostname !== SANDBOX_HOST) return outside.send(request)
      const { sender, port, address } = await (inside ??= open())
      const url = new URL(request.url)
      url.port = String(port)
      return sender.send({ ...request, url, addresses: [address] })
    },
    async close() {
      await Promise.all([outside.close(), inside?.then(({ sender }) => sender.close())])
      await site.close()
    },
  }
}
