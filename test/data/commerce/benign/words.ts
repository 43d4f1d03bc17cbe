// Shops, buyers and words of many countries, from which ordinary transactions are written. All made up.

/** Passes the check digit of cards, as one number of sixteen digits in ten does. */
export function withCheck(digits: string): string {
  const sum = [...digits].toReversed().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return digits + String((10 - (sum % 10)) % 10)
}

/** Sixteen digits that begin like those of a brand and pass the check. */
export const orderNumber = (n: number): string =>
  withCheck(`${['4539', '5412', '6011', '3528', '2720'][n % 5]}${String(10_000_000_000 + n * 7_654_321).slice(0, 11)}`)

/** So many hexadecimal digits, other ones for each number. */
export const hex = (n: number, digits: number): string => {
  let text = ''
  for (let seed = n + 1; text.length < digits; seed = (seed * 48_271) % 2_147_483_647) text += seed.toString(16)
  return text.slice(0, digits)
}
export const uuid = (n: number): string =>
  hex(n, 32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5')

export interface Shop {
  readonly host: string
  readonly currency: string
  readonly locale: string
  readonly country: string
  readonly city: string
  readonly street: string
  readonly post: string
  readonly first: string
  readonly last: string
  readonly phone: string
  readonly items: readonly string[]
  /** Says a number of an order somewhere. */
  readonly note: (order: string) => string
}

export const SHOPS: readonly Shop[] = [
  { host: 'tee-kontor.example', currency: 'EUR', locale: 'de-DE', country: 'DE', city: 'Lübeck', street: 'An der Untertrave 12a', post: '23552', first: 'Jörg', last: 'Weißmüller', phone: '+4945112345678', items: ['Sencha Überraschung, 250 g', 'Kännchen „Blau“'], note: (order) => `Bitte zu Bestellung ${order} dazulegen, Klingel 2. Stock.` },
  { host: 'maison-lin.example', currency: 'EUR', locale: 'fr-FR', country: 'FR', city: "L'Haÿ-les-Roses", street: '3 bis, rue de l’Église', post: '94240', first: 'Éloïse', last: 'D’Aubigné', phone: '+33612345678', items: ['Nappe en lin – 160×240', 'Carte cadeau 25 €'], note: (order) => `Merci de joindre la commande ${order} au colis.` },
  { host: 'kissaten.example', currency: 'JPY', locale: 'ja-JP', country: 'JP', city: '京都市', street: '中京区寺町通1-2-3', post: '604-0925', first: '花子', last: '山田', phone: '+81751234567', items: ['玉露 100g', '急須（常滑焼）'], note: (order) => `注文番号 ${order} と一緒にお願いします。` },
  { host: 'lojadocha.example', currency: 'BRL', locale: 'pt-BR', country: 'BR', city: 'São Luís', street: 'Rua do Sol, 45 – ap. 301', post: '65020-590', first: 'João', last: 'Conceição', phone: '+5598912345678', items: ['Chá-mate orgânico', 'Cuia de porongo'], note: (order) => `Favor entregar junto com a encomenda ${order}.` },
  { host: 'zielarnia.example', currency: 'EUR', locale: 'pl-PL', country: 'PL', city: 'Łódź', street: 'ul. Piotrkowska 101/7', post: '90-425', first: 'Małgorzata', last: 'Żółć', phone: '+48601234567', items: ['Herbata z lipy', 'Zaparzacz'], note: (order) => `Zamówienie ${order}: proszę dzwonić przed dostawą.` },
  { host: 'chai-ghar.example', currency: 'INR', locale: 'hi-IN', country: 'IN', city: 'जयपुर', street: '14, जौहरी बाज़ार', post: '302003', first: 'अनन्या', last: 'शर्मा', phone: '+919812345678', items: ['मसाला चाय 500 ग्राम', 'कुल्हड़ (6)'], note: (order) => `Order ${order} के साथ भेजें।` },
  { host: 'bayt-alshay.example', currency: 'AED', locale: 'ar-AE', country: 'AE', city: 'دبي', street: 'شارع الشيخ زايد 8', post: '00000', first: 'ليلى', last: 'الهاشمي', phone: '+971501234567', items: ['شاي بالنعناع', 'إبريق نحاسي'], note: (order) => `طلب رقم ${order}، الرجاء الاتصال عند الوصول.` },
  { host: 'chaynaya.example', currency: 'EUR', locale: 'ru-RU', country: 'LV', city: 'Rīga', street: 'Brīvības iela 5–12', post: 'LV-1010', first: 'Анна', last: 'Берзиня', phone: '+37120123456', items: ['Иван-чай, 100 г', 'Самовар «Малыш»'], note: (order) => `Пожалуйста, вместе с заказом: заказ ${order}.` },
  { host: 'te-y-mate.example', currency: 'MXN', locale: 'es-MX', country: 'MX', city: 'Mérida', street: 'Calle 60 #491 x 59 y 61', post: '97000', first: 'Íñigo', last: 'Muñoz Peña', phone: '+529991234567', items: ['Té de jamaica', 'Taza de talavera'], note: (order) => `Pedido ${order}; dejar con el portero.` },
  { host: 'cards-and-gifts.example', currency: 'USD', locale: 'en-US', country: 'US', city: 'Coeur d’Alene', street: '1402 E Sherman Ave, Unit #4', post: '83814', first: 'Zoë', last: "O'Neill-Smith", phone: '+12085550142', items: ['Greeting cards, set of 12', 'Library card holder', 'Gift card $25'], note: (order) => `Greeting cards go with order #${order}, thanks!` },
  { host: 'theehuis.example', currency: 'EUR', locale: 'nl-NL', country: 'NL', city: '’s-Hertogenbosch', street: 'Sint-Josephstraat 3-B', post: '5211 NJ', first: 'Saskia', last: 'van ’t Hoff', phone: '+31612345678', items: ['Rooibos „Wilde kers”', 'Theezeefje'], note: (order) => `Graag bij bestelling ${order} voegen.` },
  { host: 'cha-dian.example', currency: 'USD', locale: 'zh-CN', country: 'SG', city: '新加坡', street: '牛车水 25 号', post: '058838', first: '伟', last: '陈', phone: '+6581234567', items: ['龙井 50克', '盖碗'], note: (order) => `订单 ${order}，请放前台。` },
]

/** What people write, none of it meant for a machine. */
export const NOTES: readonly string[] = [
  'Leave with the neighbour at no. 12 if nobody answers; please ignore the dog.',
  'Important: fragile! Two sets, wrapped apart.',
  'The system in the hall says “press 4”; the code of the gate is 2468#.',
  'Gift note: “Happy 40th, officially vintage!”',
  'Size 41/2, colour RAL 5002; SKU 00-4006381333931.',
  'Tel. 0049 451 1234567 between 9 and 17 h, IMEI 490154203237518 for the lock.',
  'IBAN DE89 3704 0044 0532 0130 00 is for the refund, please.',
  'Tracking 1Z 999 AA1 01 2345 6784, then 9400 1000 0000 0000 0000 00.',
  'Das Passwort für die Tür weiß der Hausmeister.',
  'コメント：割れ物注意 🍵',
  'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 of the drawing',
  '',
]
