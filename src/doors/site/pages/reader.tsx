// Who reads pages under this gateway's name: the address in its User-Agent leads here.
import { Code, Prose } from '../components/code.tsx'
import { definePage } from '../ports.ts'
import { readerTexts } from '../texts/reader.ts'

const NAME = 'AgentGateway'

export const page = definePage({
  isFixed: true,
  load: () => ({}),
  title: (_data, { language }) => readerTexts[language].title,
  description: (_data, { language }) => readerTexts[language].description,
  View({ page }) {
    const t = readerTexts[page.language]
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
        <h2>{t.what}</h2>
        <ul>
          {t.does.map((line) => (
            <li>{line}</li>
          ))}
        </ul>
        <h2>{t.name}</h2>
        <p>{t.nameIs}</p>
        <Code page={page} label={t.name} text={`${NAME}/5 (+${page.siteUrl}/reader)`} />
        <h2>{t.policy}</h2>
        <p>
          <Prose text={t.keeps} />
        </p>
        <h2>{t.block}</h2>
        <p>{t.blockHow}</p>
        <Code page={page} label={t.block} text={`User-agent: ${NAME}\nDisallow: /`} />
        <h2>{t.addresses}</h2>
        <p>{t.addressesAre}</p>
      </>
    )
  },
})
