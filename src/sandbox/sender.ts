// Sends requests for the reserved name to the sample site, and everything else where it belongs. The sample site has a
// sender of its own, so that its throw-away certificate authority vouches for nothing else.
import type { OutboundRequest, Sender, SendResult } from '../egress/ports.ts'
import { SANDBOX_HOST } from '../egress/target.ts'
import type { SampleSite } from './site.ts'

/** @param createSender makes a sender that trusts this authority (PEM) and no other */
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

  async function sendInside(request: OutboundRequest): Promise<SendResult> {
    // The site cannot open where its optional packages are missing: nothing was sent then, and nothing is charged.
    const opened = await (inside ??= open()).catch(() => undefined)
    if (opened === undefined) return { ok: false, phase: 'before_send', reason: 'connect_failed' }
    const { sender, port, address } = opened
    const url = new URL(request.url)
    url.port = String(port)
    // What the request may reach beside it says nothing of the site: its sender dials the site alone.
    return sender.send({ ...request, url, addresses: [address], reach: undefined })
  }

  return {
    send: (request) => (request.url.hostname === SANDBOX_HOST ? sendInside(request) : outside.send(request)),
    async close() {
      await Promise.all([
        outside.close(),
        inside?.then(
          ({ sender }) => sender.close(),
          () => {},
        ),
      ])
      await site.close()
    },
  }
}
