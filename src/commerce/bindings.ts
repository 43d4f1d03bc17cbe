// Detection -> Binding[]: statements of one message that have to agree, each compared once, for policy and rubric alike.
import { bindAp2 } from './ap2/bind.ts'
import { bindMcp, bindUcp } from './bindings/envelopes.ts'
import { bindHttp } from './bindings/http.ts'
import { bindMpp } from './mpp/bind.ts'
import { bindX402 } from './x402/bind.ts'
import { rememberLast } from './decode/value.ts'
import type { Binding, Detection, Layer, LayerName, Message } from './ports.ts'

const BINDERS: Readonly<Partial<Record<LayerName, (layer: Layer, message: Message) => Binding[]>>> = {
  x402: bindX402,
  mpp: bindMpp,
  ucp: bindUcp,
  ap2: bindAp2,
  mcp: bindMcp,
}

const find = rememberLast((detection: Detection, message: Message): Binding[] => [
  ...bindHttp(message),
  ...detection.layers.flatMap((layer) => BINDERS[layer.name]?.(layer, message) ?? []),
])

export const findBindings = (message: Message, detection: Detection): Binding[] => find(detection, message)
