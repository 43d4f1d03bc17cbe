// What happens, drawn: an agent, the gateway with the secret in it, the internet, and four arrows. In Arabic it is read from the right, so
// everything is mirrored but words and numerals.
import type { VNode } from 'preact'
import type { PageContext } from '../../ports.ts'
import type { HomeTexts } from '../../texts/home.ts'

const WIDTH = 400
/** Nothing is drawn above. */
const TOP = 22
const HEIGHT = 184
/** Middles of the agent, of the gateway and of the internet. */
const AGENT = 52
const GATE = 200
const NET = 348
const THERE = 92
const BACK = 136

interface PictureProps {
  readonly page: Pick<PageContext, 'direction'>
  readonly texts: HomeTexts['picture']
}

/** The picture of the first page, with its four steps in words. */
export function Picture({ page, texts }: PictureProps): VNode {
  const isMirrored = page.direction === 'rtl'
  const at = (x: number) => (isMirrored ? WIDTH - x : x)
  const mirror = isMirrored ? `translate(${WIDTH} 0) scale(-1 1)` : undefined
  const numerals: readonly (readonly [x: number, y: number])[] = [
    [(AGENT + GATE) / 2 - 3, THERE],
    [(GATE + NET) / 2 + 3, THERE],
    [(GATE + NET) / 2 + 3, BACK],
    [(AGENT + GATE) / 2 - 3, BACK],
  ]
  return (
    <figure class="picture">
      <svg viewBox={`0 ${TOP} ${WIDTH} ${HEIGHT}`} role="img" aria-label={texts.label}>
        <g transform={mirror} fill="none" stroke-linecap="round" stroke-linejoin="round">
          <rect class="picture-node" x={AGENT - 36} y="78" width="72" height="72" rx="14" />
          <path class="picture-ink" d={`M${AGENT - 14} 102l12 12-12 12M${AGENT + 4} 127h13`} />

          <path class="picture-gate" d={`M${GATE - 50} 166v-56a50 50 0 0 1 100 0v56`} />
          <circle class="picture-secret" cx={GATE} cy="100" r="10" />
          <path class="picture-secret" d={`M${GATE} 110v34m0-7h9m-9-10h7`} />

          <circle class="picture-node" cx={NET} cy="114" r="37" />
          <path
            class="picture-ink"
            d={`M${NET - 37} 114h74M${NET} 77c-22 20-22 54 0 74M${NET} 77c22 20 22 54 0 74`}
          />

          <Arrow from={AGENT + 41} to={GATE - 57} y={THERE} />
          <Arrow from={GATE + 57} to={NET - 41} y={THERE} />
          <Arrow from={NET - 41} to={GATE + 57} y={BACK} />
          <Arrow from={GATE - 57} to={AGENT + 41} y={BACK} />
        </g>
        {numerals.map(([x, y], index) => (
          <g class="picture-numeral">
            <circle cx={at(x)} cy={y} r="10" />
            <text x={at(x)} y={y} dy="0.36em">
              {index + 1}
            </text>
          </g>
        ))}
        <text class="picture-secret-word" x={at(GATE)} y="40">
          {texts.secret}
        </text>
        {(
          [
            [AGENT, texts.agent],
            [GATE, texts.gateway],
            [NET, texts.internet],
          ] as const
        ).map(([x, word]) => (
          <text class="picture-word" x={at(x)} y="196">
            {word}
          </text>
        ))}
      </svg>
      <figcaption>
        <ol>
          {texts.steps.map((step) => (
            <li>{step}</li>
          ))}
        </ol>
      </figcaption>
    </figure>
  )
}

function Arrow({ from, to, y }: { readonly from: number; readonly to: number; readonly y: number }): VNode {
  const back = to > from ? -5 : 5
  return <path class="picture-arrow" d={`M${from} ${y}H${to}m${back}-5L${to} ${y}l${back} 5`} />
}
