// Words on the pictures that a link shows where it is shared.
import type { Language } from '../routes.ts'

export type PictureName = 'home' | 'tools' | 'market' | 'docs' | 'proof'

const en: Readonly<Record<PictureName, { readonly title: readonly string[]; readonly words: string }>> = {
  home: {
    title: ['Agents act on the internet', 'without holding a secret'],
    words: 'MCP · A2A · HTTP · x402',
  },
  tools: { title: ['See it, try it,', 'pay it, verify it'], words: 'Every tool, in a browser' },
  market: {
    title: ['APIs for agents,', 'paid by the call'],
    words: 'Prices, latency and uptime, with their sources',
  },
  docs: { title: ['Guides that run', 'as pasted'], words: 'Connect · Buy · Sell · Operate' },
  proof: { title: ['Receipts that', 'anyone can verify'], words: 'Checked in your own browser' },
}

const ar: typeof en = {
  home: { title: ['وكلاء يعملون على الإنترنت', 'دون أن يحملوا سرًّا'], words: 'MCP · A2A · HTTP · x402' },
  tools: { title: ['شاهد وجرّب', 'وادفع وتحقق'], words: 'كل أداة في متصفحك' },
  market: { title: ['واجهات برمجية للوكلاء', 'تُدفع بالطلب'], words: 'أسعار وأزمنة وتوفّر مع مصادرها' },
  docs: { title: ['أدلة تعمل أوامرها', 'كما هي'], words: 'الربط · الشراء · البيع · التشغيل' },
  proof: { title: ['إيصالات يتحقق منها', 'أي أحد'], words: 'والتحقق يجري في متصفحك' },
}

export const pictureTexts: Readonly<Record<Language, typeof en>> = { en, ar }
