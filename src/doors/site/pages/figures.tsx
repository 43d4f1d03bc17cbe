// How each figure of the market comes about: every number on the site leads here.
import { FIGURE_METHODS } from '../../../documents/market.ts'
import { English } from '../components/english.tsx'
import { Link } from '../components/link.tsx'
import { definePage } from '../ports.ts'
import { marketTexts } from '../texts/market.ts'

export const page = definePage({
  isFixed: true,
  load: () => ({ figures: FIGURE_METHODS }),
  title: (_data, page) => marketTexts[page.language].figuresTitle,
  description: (_data, page) => marketTexts[page.language].figuresLead,
  View({ data, page }) {
    const t = marketTexts[page.language]
    return (
      <>
        <p class="eyebrow">
          <Link to={page.href('/marketplace')}>{t.title}</Link>
        </p>
        <h1>{t.figuresTitle}</h1>
        <p class="lead">{t.figuresLead}</p>
        <dl class="methods">
          {data.figures.map(({ figure, words }) => (
            <div id={figure}>
              <dt>
                <code dir="ltr">{figure}</code>
              </dt>
              <dd>
                <English text={words} page={page} />
              </dd>
            </div>
          ))}
        </dl>
        <p>
          <Link to={page.href('/docs/market-figures')}>{t.figuresGuide}</Link>
        </p>
      </>
    )
  },
})
