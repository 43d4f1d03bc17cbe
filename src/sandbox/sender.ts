// Sends requests for the reserved name to the sample site, and everything else where it belongs. The sample site has a
// sender of its own, so that its throw-away certificate authority vouches for nothing else.
import type {
  OutboundRequest,
  Sender,
  SendResult,
  StreamRequest,
  StreamResult,
  StreamSender,
} from '../egress/ports.ts'
import { SANDBOX_HOST } from '../egress/target.ts'
import type { SampleSite } from './site.ts'

/** @param createSender makes a sender that trusts this authority (PEM) and no other */
export function withSampleSite(
  outside: Sender & StreamSender,
  site: SampleSite,
  createSender: (ca: string) => Sender & StreamSender,
): Sender & StreamSender {
  let inside: Promise<{ sender: Sender & StreamSender; port: number; address: string }> | undefined

  async function open() {
    const { address, port, ca } = await site.start()
    return { sender: createSender(ca), port, address }
  }

  /**
   * The request as the site takes it. What it may reach beside the site says nothing of it: its sender dials the site alone.
   * @returns undefined where the site cannot open since its optional packages are missing: nothing is sent then, and nothing charged
   */
  async function toInside<R extends OutboundRequest | StreamRequest>(request: R) {
    const opened = await (inside ??= open()).catch(() => undefined)
    if (opened === undefined) return undefined
    const { sender, port, address } = opened
    const url = new URL(request.url)
    url.port = String(port)
    return { sender, request: { ...request, url, addresses: [address], reach: undefined } }
  }

  async function sendInside(request: OutboundRequest): Promise<SendResult> {
    const there = await toInside(request)
    return there ? there.sender.send(there.request) : CLOSED
  }

  async function openInside(request: StreamRequest): Promise<StreamResult> {
    const there = await toInside(request)
    return there ? there.sender.open(there.request) : CLOSED
  }

  return {
    send: (request) => (request.url.hostname === SANDBOX_HOST ? sendInside(request) : outside.send(request)),
    open: (request) => (request.url.hostname === SANDBOX_HOST ? openInside(request) : outside.open(request)),
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

const CLOSED = { ok: false, phase: 'before_send', reason: 'connect_failed' } as const
