// The words of jobs that are not done here, English and Arabic. Data, in four forms:
//   things    nouns for it, anywhere in the sentence, with their endings
//   acts      verbs, anywhere, with their endings
//   verbs     Arabic imperatives, anywhere, with the letters of every person
//   phrases   words in a row: `a/b` one of them, `_` up to four others in the same clause, `@` an address, `#` a number,
//             in front `^`: only where a clause begins, that is as a request ("book me …", not "the book"); `~`: only where no
//             address is said
import type { JobId } from './jobs.ts'

export interface JobWords {
  readonly job: JobId
  readonly things?: string
  readonly acts?: string
  readonly verbs?: string
  readonly phrases?: string
}

export const JOB_WORDS: readonly JobWords[] = [
  {
    job: 'translation',
    things: 'translation ترجمه مترجم مترجمه ترجمتها ترجمته',
    acts: 'translate translating localise localize',
    verbs: 'ترجم',
    phrases: '^ نقلي|^ انقل _ LANGUAGE_TO|mean/means in LANGUAGE|in simple/plain/good LANGUAGE|@ in _ LANGUAGE|to/into LANGUAGE|عربلي|LANGUAGE please/pls|LANGUAGE version/edition/copy/subtitles/wording|only speak/read/understand LANGUAGE|dont/cant speak/read/understand LANGUAGE|language of|into another language|from LANGUAGE to/into LANGUAGE|my language|لغه اخري/تانيه/ثانيه|من LANGUAGE للعربي|but in LANGUAGE|@ in LANGUAGE|in LANGUAGE @|^ render/put/convert/turn/give _ in/into/to LANGUAGE|say/says in LANGUAGE|in LANGUAGE for me|in LANGUAGE please|نسخه LANGUAGE|الي/لل اللغه LANGUAGE|LANGUAGE_TO|للغه/باللغه LANGUAGE|الي LANGUAGE',
  },
  {
    job: 'summary',
    things: 'summary summarization summarisation tldr tl gist recap synopsis takeaway ملخص تلخيص ملخصا الزبده زبده خلاصته',
    acts: 'summarize summarise',
    verbs: 'لخص اختصر اوجز',
    phrases: '^ make @ short/shorter/brief/briefer/concise|one/two/three/four/five/six/seven/ten/# bullet/key/main/short/quick points|one/two/three/four/five/six/# bullets/takeaways|main/key/important/essential/core points/ideas/takeaways/findings/messages/insights|most important points/things/parts|abstract of|in plain/simple/short/few words/terms/form|in short|in brief|briefly|short/shorter/brief version|in # words|to # words|what _ boils down|the essence|cliff notes|cliffnotes|highlights of|too long|باختصار|بايجاز|مختصر/مختصرا/المختصر|اهم النقط/النقاط/الافكار/نقاط|النقاط/النقط الرييسيه|الافكار الرييسيه|موجز قصير/سريع/لهذا|زبدتها/زبدته|في كلمتين/نقاط|^ sum _ up|sum up|brief/quick/short/general overview|overview of @|^ boil _ down|^ condense|^ shorten|explain _ like im|explain _ like i m|eli5|in a nutshell|^ explain @|in/as/into/to _ bullet points|in/into/to one/two/three/five/a/# _ sentence/sentences/bullets/line/lines/paragraph|في سطرين/سطر/جملتين/جمله|خلاصه/خلاصات هذا/هذه/المقال/البحث/الصفحه/الكتاب/التقرير/ده/دي',
  },
  {
    job: 'screenshot',
    things: 'screenshot screengrab screencap screencapture thumbnail سكرينشوت اسكرينشوت سكرين',
    phrases: 'print screen|visual capture/snapshot/copy/preview|preview image|picture of how|how does @ look|page as a/an image/picture/png/jpg|to png/jpg/jpeg|to/into/as a/an png/jpg/jpeg/image/picture/jpeg|as png/jpg/jpeg/image|التقط/التقطي/خذ/خد صوره|كيف شكل|شكل الموقع/الصفحه|screen shot/shots/grab/capture|looks/look like|how @ looks|how _ looks|headless browser|^ capture _ image/picture|picture/image/photo/snapshot of @|snapshot of the/this page/site/homepage|image/picture/photo of the/this page/site/homepage/website|لقطه شاشه|لقطه للشاشه|لقطه من|سكرين شوت|صوره للصفحه/للموقع|صوره الصفحه/الموقع|^ صور/صوري لي/لنا الموقع/الصفحه|^ صور/صوري الموقع/الصفحه',
  },
  {
    job: 'monitoring',
    things: 'monitoring uptime notification تنبيه تنبيهات اشعار اشعارات',
    verbs: 'راقب نبه',
    phrases: 'اذا/لو/لما/عندما نزل/رخص/وصل/تغير/رجع|^ observe|^ follow @/this|^ recheck|^ refresh|stay updated/informed|any change/changes|remind me when/if|daily/weekly/hourly price/prices/check/status/summary|inform me|كرر|كررها|بلغني/علمني/خبرني بكل/بأي/باي|new posts/articles _ when|each time|every time|^ monitor|^ notify|notify me/us|مراقبه|wait until/till/for|whenever|price changes/drops|subscribe to price/changes/updates/alerts|is _ online/offline/reachable/alive|goes/drops/falls below/under|back in stock|as soon as|the moment|every # minutes/hours/days|continuously|regularly|periodically|from time to time|^ poll|^ schedule _ check|any/اي changes/تغيير|status of the site/server|متابع/متابعه/تتابع السعر/الصفحه/الموقع|اي تغيير/تحديث|تغيير يحصل/يصير|كل # دقيقه/ساعات|اول باول|لحظه بلحظه|هل الموقع يعمل/شغال|لما/عندما/اذا _ يرجع/ينزل/يتغير/يتوفر|^ watch|^ track|^ follow _ price/prices/stock|^ alert|price/stock/email alert/alerts|alert/alerts for/when/if|alert me|warn me|ping me|^ tell/inform me when/as _ drops/drop/changes/change/available/stock/falls/rises/sale/updated/published|^ tell/inform me if _ drops/drop/changes/change/falls/rises/sale/updated/published|^ tell/inform me if _ again|tell me when|tell me as soon|let me know when/if/as/once|keep an eye|keep me posted/updated/informed|every hour/day/week/morning/evening/minute/night/month|each day/morning/hour/week|# times a day|hourly|weekly/daily/nightly digest/report/update/updates/newsletter/email|once a day/week|check/read/repeat/run it/this/again every/daily|over the next|over time|price history|changed/changes since|for changes|up or down|is @ down/up|when it changes/drops/updates|when/if it is updated|from now on|بلغني/علمني/خبرني/خبروني/قولي/عرفني/اخبرني/اعلمني لما/لو/اذا/عندما/اول/متي|بلغ/بلغني لو|لو تغير/اتغير/اتغيرت/تغيرت|لما ينزل/يصير/يرجع/يتوفر/تنزل|كل يوم/صباح/ساعه/اسبوع/شويه/دقيقه|يوميا|اسبوعيا|باستمرار|اول ما|تابع/اتابع/تابعلي _ سعر/السعر/الرابط/الصفحه/الموقع|^ تابع|شغال ولا|اشعرني',
  },
  {
    job: 'crawling',
    things: 'crawler crawling sitemap subpage subpages',
    acts: 'crawl',
    phrases: 'all its links/pages/content|all the/of its|build/make/create an index|sub links|linked pages|everything on the/this site/website|من كل صفحات|^ spider|everything/all under|every/each post/article/product/recipe/listing/profile/chapter/item|all posts/articles/products/recipes/listings/profiles/chapters|all the/of/your/their/blog/news posts/articles/products/recipes/listings/profiles/chapters|all the/of the/blog/news posts/articles/products|^ dump _ site/website/domain/docs|how many pages|each/every link/url|whole archive|entire blog/archive/documentation|full archive|page by page|hundreds/thousands of pages|زحف|كل رابط/لينك/صفحه|الموقع بالكامل/باكمله|باكمله|كل اللي في الموقع|كل الارشيف|ارشيف الموقع|whole/entire/full/complete site/website/domain/forum/blog/shop/catalogue/catalog|all the/of/its/their/sub pages|every single page|every page|all pages|all subpages|all of/the pages|all/every url/urls/link/links of/on _ domain/site/website|follow _ links|^ mirror|levels/level deep|recursively|broken links|dead links|rest of the site/website|# _ product/web pages|site wide|sitewide|الموقع كله/كامل/كاملا/بالكامل|موقع _ كله/كامل/كاملا/بالكامل|كامل الموقع|كل/جميع صفحات/الصفحات|كل/جميع المنتجات/المقالات/المواضيع/التدوينات/منتجات/مقالات|الروابط الفرعيه|كل الروابط _ افتحها/وافتحها|صفحات هالموقع',
  },
  {
    job: 'search',
    things: 'bing جوجل قوقل غوغل',
    verbs: 'فتش',
    phrases: 'what/which other shops/stores/sites/sellers|a cheaper one|cheaper one than|anywhere else|any other shop/store/seller|somewhere else|another seller|on amazon/ebay|^ find other|find other|cheaper than this|other/more offers/shops/stores/sellers|في محل/متجر تاني/ثاني/اخر|غير ده/هذا|across the web/internet|competitors of|alternatives to|on the internet|~ other sites/websites/pages|trusted sources|market price|دورلي|دوري لي|دور لي|^ google|google for/search/it|googling|reviews of|~ best rated|~ ^ research|~ give/get/send me links/sites/websites/sources about/on/for|~ links/sources/sites about/on|shops/stores/websites/sites/sellers with/that/selling/who/where|near me|nearby|~ ^ find an/a/the|~ ^ who sells|^ shop for|^ any _ deals|اونلاين|علي جوجل|~ مواقع عن|~ روابط عن|~ مقالات/مقال عن|~ في السوق|قريب مني|القاه/القاها/الاقي/الاقيه|search the web/internet|search online|web search|search amazon/ebay/youtube/wikipedia/reddit|~ ^ search for|~ ^ find me/us/a/an/the/some/good/cheap/websites/shops/articles/pages/sites _ websites/website/sites/site/shops/shop/stores/articles/number/reviews/deals/flights|^ find websites/shops/stores/sites/articles/reviews/deals/flights|^ look up|~ ^ look for|~ ^ find|similar pages/sites/articles/products|pages/sites/articles/products like this|other shops/stores/sellers/sites|another shop/store|cheaper elsewhere|elsewhere|where can/do/could i buy/get/find|which/what websites/sites/shops/stores/pages _ talk/talks/sell/sells/offer/mention/say/have|~ phone number of|~ official site|from/on/across the web/internet|في/علي الانترنت/النت/السوق|محلات/متاجر/مواقع تانيه/ثانيه/اخري|من وين/فين اشتري/اجيب|وين/فين/منين اقدر/ممكن اشتري/اجيب/القي|وين/فين اشتري|لاقيلي/لاقي/القالي|بيبيع|كيبيع|^ قلب لي|~ ^ ابحث|~ ^ دور',
  },
  {
    job: 'posting',
    things: 'تغريده',
    acts: 'upvote downvote crosspost',
    verbs: 'شارك علق',
    phrases: '^ react|^ endorse|to/on my blog/account/profile/timeline/wall|make/write/create/do a/an post|# stars|five/four/three/two/one stars/star|^ rate|^ tweet|^ غرد|^ انشر|وانشر|انشره/انشرها/انشري|^ put _ on my/facebook/twitter/linkedin|^ submit _ to|add/post/write/leave a/an comment/review/rating|^ add _ to my|to hacker news/reddit/facebook|^ vote|^ bookmark|^ pin|اكتب/اكتبي/ضيف/اضف تعليق/مراجعه/تقييم|نزل _ علي الفيس/الفيسبوك/تويتر/صفحتي|وانشر|في تويتر/فيسبوك/انستا|^ post it/this/them/that/to/on|^ post @ _ to/on|post _ to/on twitter/facebook/linkedin/instagram/reddit/x/social/my|^ share|^ publish|^ upload|^ comment|leave a comment/review|write/post/add a review/comment|^ reply|^ respond to|^ answer the thread/comment/post|^ update/edit/change the/this/my wiki/page/profile/article/site|^ retweet|on/to my twitter/facebook/linkedin/instagram/profile/timeline|حط _ علي صفحتي/حسابي|نزل تغريده/بوست/منشور|علي تويتر/فيسبوك/الفيس/الفيسبوك/انستا/انستغرام/لينكدان|رد علي',
  },
  {
    job: 'messaging',
    things: 'ايميلي بالايميل عالايميل',
    verbs: 'دزلي',
    phrases: '^ وصل|وصل _ ل|وصللي|to/on/via/by/through my/our/the/a whatsapp/sms/email/fax|to/on/via/by/through whatsapp/sms/fax|^ sms|whatsapp it/me/this|علي/عالي/عبر الواتس/واتس/الواتساب/واتساب/ايميل/الايميل|عالواتس|عالواتساب|بالواتس|^ tell _ about|^ contact|^ notify _ team|send @|to # |^ let _ know|^ tell my/him/her/the|^ ask the/them/him/her|^ whatsapp|^ slack|to my team/boss/wife/colleague/friend/email/phone/inbox|لصاحبي/لزميلي/للفريق/لمديري/لاحمد|الي صديقي/احمد/مديري|تواصل مع|راسل|خبر البايع|ارسل/ابعت محتوي/المحتوي _ الي/ل|^ email/mail|email/emails me/it/this/them/us|email _ to|^ send _ to|^ send a/an email/message/letter/mail|send _ message/email|send _ to my/the/our/his/her|^ forward|^ message|^ text me/him/her/my|text my|^ dm|^ write to|^ call|^ dial|ask for a discount|to slack/telegram/discord/teams|ابعت/ابعث/ارسل/وارسل/وابعت _ الي/علي/ل/لصاحبي/للفريق/واتس/ايميل|ابعت/ابعث/ارسل رساله/بريد/ايميل|ابعتلي علي|^ كلم|^ اتصل|^ راسل|دز لي',
  },
  {
    job: 'fact_checking',
    things: 'factcheck factchecking misinformation disinformation',
    acts: 'debunk',
    phrases: '@ lie/lies/lying|cross check|crosscheck|double check|tell/telling the truth|هل يكذب|كذب|صادق|claim holds|claims hold|hold up|holds up|is it/this/that _ true/fake/real/legit/safe/genuine|is/are _ genuine/legit/safe/trustworthy/fraud|true or not|real or fake|^ confirm that/whether/if|check if _ claim|موثوق/موثوقه/مضمون/امن|هل الكلام/المكتوب/المعلومه/المعلومات/الخبر/هالكلام/هذا _ صح|هل _ موثوق/مضمون/امن/نصاب/محتال/احتيال/مزيف/مزور|صح ولا غلط|مصداقيه|هل _ نصب/حقيقي|صدق ولا|fact check/checking|check the facts|^ verify|^ validate the claim/claims|verify the claim/claims/facts|is/are _ true|is/are _ fake|true or false|fake news|is/are _ accurate|how reliable/credible/trustworthy|is/are _ reliable/credible/trustworthy/legit/scam|a scam|can i trust|whether _ true/accurate/correct/real|تحقق من/ان|وتحقق من|تاكد من/ان/لي/اذا|تاكدلي|اتاكد ان/من/اذا|حقيقي ولا|صح ولا/ام|هل _ صحيح/حقيقي/كاذب/كذب|خبر كاذب|اشاعه|نصب|صحه الخبر/المعلومه/الكلام',
  },
  {
    job: 'ocr',
    things: 'ocr',
    phrases: 'sign/label/receipt/invoice/letter in/on the/this photo/picture/image|^ digitise/digitize|this/the scan|a scan|photo/picture/image say/says|text from/in a/the/this picture/photo/image/screenshot/scan|text from picture/pictures/photos/images|الكلام/المكتوب/كلام/نص اللي _ الصوره/صوره|الكلام في الصوره|النص اللي _ صوره|من الصوره|من صوره|text/words/numbers/writing in/on/from/of/out the/this/an/a/of image/picture/photo/screenshot/scan|text from my/our/these/those/some/that/scanned image/picture/photo/screenshot/scan/page|read/extract/get _ out of _ screenshot/image/picture/photo|text/words/numbers inside/within/off _ image/picture/photo/screenshot|written on/in _ photo/picture/image/sign|scanned document/page/pdf/file/image/letter/copy|handwriting|handwritten|النص من الصوره/صوره|المكتوب/مكتوب في/علي/ب الصوره/صوره|المكتوب/مكتوب بالصوره|^ اقرا/اقري _ صوره/هالصوره/الصوره|الصوره/صوره الي/ل نص/كلام|الصوره لنص|النص اللي/الذي في الصوره|نص الصوره',
  },
  {
    job: 'transcription',
    things: 'transcription',
    acts: 'transcribe transcribing',
    phrases: 'subtitles of/for/from|^ فرغ|فرغلي|is/are/was said in|^ listen|captions/subtitles/lyrics for/of|closed captions|dictation|spoken words|what is said|audio/video/podcast/recording _ transcript/text|^ اسمع|^ استمع|الكلام/كلام اللي _ الفيديو/التسجيل/البودكاست|الكلام في الفيديو|المقطع ده|ترجمه الفيديو|نص الفيديو/البودكاست/التسجيل/المقطع|speech to text|transcript of _ video/podcast/episode/audio/recording/call/meeting/interview|video/podcast/audio transcript|video/audio/podcast/recording _ to/into text|they say/said in the/this video/podcast/audio/recording|in the video/podcast/recording/audio|تفريغ|المقطع الصوتي|الفيديو/التسجيل/البودكاست/الصوت لنص/نصيا/نصا|الفيديو/التسجيل/البودكاست/الصوت الي نص|في هذا/هالتسجيل/التسجيل/الفيديو/البودكاست التسجيل|في التسجيل/الفيديو/البودكاست|يقال في',
  },
  {
    job: 'analysis',
    things: 'sentiment seo vulnerability vulnerabilities classification readability plagiarism',
    acts: 'classify categorise categorize',
    verbs: 'حلل',
    phrases: 'emotions/feelings/attitude/sentiment in/of/on/towards/about|opinion/opinions/thoughts/take/verdict on/about @|your opinion/opinions/thoughts/view/take/verdict|which/what emotions|^ predict|^ forecast|^ predict|a score of/for|strength of|^ صنف|صنفلي|how good/bad/well is/are @/this/the|what do you think|mood of|how biased|bias of|^ evaluate|^ assess|^ critique|^ judge|^ rank|^ audit|a score|score for|what is wrong with|what do you think _ @|think of @|strengths and weaknesses|رايك/رايكم/رايي في/ب|ايه رايك|شو رايك|وش رايك|^ قيم جوده/المقال/النص/هالمقال/هالنص|قيم لي|قيملي|جوده الموقع|جوده المقال|انطباع|نقاط القوه|^ analyse/analyze|and analyse/analyze|tone of|political bias|positive or negative|feel/think about @|people/customers/users feel/think|named entities|as entities|^ rate|^ grade|^ score|^ review @|extract keywords|keywords and topics|keyword extraction|with ai|security scan/audit/check|pen test|تحليل|ايجابي ولا/ام سلبي|المشاعر',
  },
  {
    job: 'writing',
    things: 'haiku',
    acts: 'rewrite reword paraphrase rephrase proofread compose',
    phrases: '^ صحح/صححي/صححلي|^ write|funnier|better written|^ shorten|bedtime story|tell me a/another story|احكي/احكيلي لي قصه|poem/haiku/song/limerick/joke about/on/from|flashcards|mind map|^ generate a/an/some|sound more|more professional/formal|into a/an tutorial/story/lesson/script/email/speech/course|tutorial/story/version for kids/children|simpler words|simple english|in the style of|write an/a answer|^ improve|^ edit the/this/my|^ continue|^ invent|come up with|brainstorm|social media post|~ ideas for|صياغه|واكتبه من جديد|اكتب/اكتبي رد|رد علي|بلغه ابسط|بسط/بسطي لي|^ write a/an/me/my/us/some/another|write a/an blog/article/post/essay/report/story/poem/summary/review/description|^ draft|in my/your own words|^ generate _ alt/meta/tags/titles/questions/ideas/captions|^ make/create/prepare/build/generate/design _ quiz/presentation/slides/deck/flashcards/mindmap/infographic/website/app/lesson|into/to a/an _ linkedin/blog/social post|into a poem/story/song/quiz/script|fix/correct the grammar/spelling|^ sing|^ draw|^ paint|^ dance|make/build me a website/app|make/build a website/app|create/design a website|^ design|اعد/اعاده صياغه|^ صيغ|صيغلي|صيغ لي|اكتب/اكتبلي/واكتب لي|اكتب/اكتبلي/واكتب مقال/مقاله/قصه/قصيده/تقرير/رساله/بوست/منشور/سيره/شعر/بحث/كتاب/خطاب|عرض تقديمي|^ ارسم|ارسملي|^ غني|^ لحن|صمم لي|صممي لي|^ صمم|غنيلي',
  },
  {
    job: 'forms',
    things: 'logout signin signup captcha',
    acts: 'login unsubscribe',
    phrases: 'register me|password|sign _ petition|^ apply for|^ enter my|^ accept/reject _ cookies|^ type|^ select|^ tick|^ press|^ log|^ book an appointment|^ enrol|^ join|^ add me|سجل/سجلني/سجلي في|سجل دخول|عبي/عبيلي/عبئ الفورم/النموذج/الاستماره|^ عبي|دوس/دوسي علي|اقبل الكوكيز|log in/into/out|log me in|sign in/into/up|sign me in/up|subscribe me|subscribe to|^ register|fill in/out|fill _ form|^ submit|submit the/my/this form/application|^ click|click on|press the button|create/open/make an/a/my account|delete/close/remove my account|delete my|^ delete|change/reset my password|change my|reset my|^ cancel|my application|سجل/سجلني دخول/الدخول/في|تسجيل الدخول|املا/املي الاستماره/النموذج|اضغط علي|ادخل/ادخلي علي حسابي|علي حسابي|^ احذف|^ امسح|^ الغي|الغاء اشتراكي|اشترك لي/في|افتح/انشئ حساب',
  },
  {
    job: 'files',
    things: 'exe installer torrent وورد',
    phrases: 'ابعت/ابعتلي/ابعث/ابعثلي/ارسل/ارسللي/اعطني/عطني/هات/هاتلي pdf/وورد/اكسل/بدياف|في ملف|في اكسل|في وورد|save the/all/these images/photos/pictures/files|download the/all/these images/photos/pictures/files|^ zip|a/an pdf/docx/ebook/epub of|pdf version/copy of|as a/an docx/doc/zip/csv/xlsx/ebook/file|^ export|to excel/csv/pdf/docx/epub|zip file|the zip/exe/mp3/mp4|^ get/fetch/save/download/grab _ @file|الي pdf/اكسل/وورد|ل pdf|بصيغه pdf/وورد|pdf _ ابعته|نزل/نزللي/نزلي الاغنيه/الملف|ملف اكسل/وورد/pdf|^ download _ video/videos/mp3/mp4/file/files/song/image/images/photos/pictures/music/app/setup/software/pdf|download all|^ download @file|^ rip|^ install|^ uninstall|as a/an pdf/doc/docx/word/epub/excel/csv/xlsx/zip/file|to/into/as pdf/word/docx/epub/excel/xlsx|a/an pdf/word/excel file/document|word document|save _ to my/google/dropbox/drive|to my google drive|google drive/sheet/sheets/docs|save _ file/disk/computer|to my computer/disk|spreadsheet|نزل/نزلي/نزللي/حمل/حملي الفيديو/فيديو/الصور/صور/الملف/ملف/الاغنيه/اغنيه/التطبيق/البرنامج|نزل/حمل لي الفيديو/الملف/الصور/الاغنيه|احفظ/واحفظ/احفظها/احفظه/واحفظه/واحفظها _ pdf/وورد/ملف/بدياف|لملف|الي ملف|ملف pdf/وورد/اكسل',
  },
  {
    job: 'images',
    phrases: '^ describe _ them/photos/pictures/images|describe them|these/those/this photos/photo/pictures/picture/images/image|^ caption|people in the|^ crop|^ resize|^ edit _ photo/image/picture|^ colorize/colourise|عدل/عدلي/قص/كبر/صغر الصوره|^ عدل|هالصوره|هذه الصوره|الصوره هذه|two/these/both images|compare _ images/photos/pictures|same photo/picture/image|in/on/at this/the picture/photo/image|describe the/these/this/all photo/photos/picture/pictures/image/images|who is the person|face recognition|remove the background|generate/create/make/draw a/an/me _ logo/image/picture/photo/icon|generate an image|الصورتين|في/ب هالصوره|بهالصوره|الصوره دي/هذه|اوصف/صف الصوره|صمم/ارسم لي _ شعار/لوجو/صوره',
  },
  {
    job: 'code',
    acts: 'debug برمج',
    phrases: 'explain the/this code|for bugs|function do|^ compile|code do|this function|this code|this script|سكربت|كود بايثون|اعمل/اعملي لي سكربت/برنامج/بوت|^ run/execute _ script/code/program/command/python/javascript|^ run npm/pip/bash/sudo|npm/pip/apt install|^ sudo|write code|write a/an/me _ scraper/script/program/function/query/code/bot|sql query|^ fix my/the/this code|pull request|review my code|^ refactor|^ compile|^ hack|^ reboot|شغل _ كود/الكود/سكربت|برنامج بايثون|صلح _ كود/الكود|اكتب/اكتبلي _ كود/برنامج/سكربت',
  },
  {
    job: 'purchase',
    things: 'checkout',
    verbs: 'اشتر',
    phrases: '^ pay the/my/this/for/@|^ tickets|two of them|get me one/two of|^ ship|check out|checkout my|my cart|my basket|خد/خذ لي واحد|خدلي واحد|اشتريها|اشتريه|^ buy|^ purchase|^ order|^ book me/a/an/the/us/@|^ reserve|buy/order/purchase it/this/one/the/two/them/me|and buy/order/purchase|buy me|buy this for me|add/put _ to/in/into _ cart/basket|add to cart|place an order|pay for/my|transfer money|transfer # _ to|^ transfer|اشتري/واشتري لي/الارخص/المنتج/هذا/ده/دي/هالمنتج|اشتريلي|^ اشتري|اطلب/اطلبلي لي/هالغرض/المنتج/بيتزا/هذا|^ اطلبلي|^ اطلب|احجز/احجزلي|^ احجز|ادفع لي/الفاتوره/عني/فاتوره|ادفعلي|حول فلوس|حجز رحله|اضف الي السله',
  },
  {
    job: 'reminders',
    things: 'reminder',
    acts: 'remind reschedule',
    phrases: 'wake me|^ remember|set a timer/reminder/alarm|set an alarm|to my calendar|schedule a/the/an/my meeting/call/appointment|^ schedule|ذكرني|نبهني الساعه|اضبط المنبه|ضبط المنبه',
  },
  {
    job: 'calculation',
    things: 'equation algebra math maths mathematics معادله رياضيات',
    acts: 'calculate solve',
    verbs: 'احسب',
    phrases: 'convert # _ to|# percent of|# times #|how many _ is #|what is #|what s #|whats #|x 2|حل المعادله/المساله|حل معادله|كم يساوي|حول # _|حاسب',
  },
  {
    job: 'live_data',
    things: 'weather forecast temperature bitcoin btc ethereum crypto cryptocurrency dogecoin forex horoscope طقس بورصه بيتكوين ايثيريوم ستمطر حراره',
    phrases: 'will it rain|rain in/tomorrow|apple/tesla/google/nvidia/amazon/microsoft stock|stock today|live score|match result|traffic in|درجه/درجات الحراره|هتمطر|حاله الطقس|stock price/prices/market|share price/prices|exchange rate/rates|price of gold/oil/bitcoin|gold/oil price/prices|trading at|usd/eur/gbp egp/eur/usd/sar/rate|score of|flight _ on time|who won|سعر الصرف|سعر صرف|سعر _ الذهب|سعر الدولار/البترول/النفط/ذهب/دولار/الريال/اليورو|نتيجه ماتش/مباراه/مباراة|مقابل الجنيه/الدولار/الريال|الجو عامل|الساعه كام|كم الساعه|what time',
  },
  {
    job: 'answering',
    phrases: '~ ^ give me a/an recipe/joke/tip/idea|~ recipe for|~ ^ what|^ which _ has/is/was/are|^ define|^ when did/was/is|^ where is/was/did|^ كم عدد|^ كم يبلغ|meaning of|definition of|how does _ work|^ can i|^ كيف|^ who/whos|^ why|^ how do/does/can/should/tall/old/far/big/many|^ what is/are/was/should/do/can/does/s|^ whats the|^ explain|^ recommend|give me advice|advice on/about|what do you think|^ is it/there|^ should i|tell me a joke|^ من هو/هي/اخترع/كتب/فاز|^ مين|^ ليه|^ ليش|^ لماذا|^ كيف|^ ازاي|^ ما هي/هو/معني|^ ايه احسن/افضل/رايك/معني|^ شو رايك|^ شكون|^ علاش|^ اشرح|^ متي|^ وين اقرب|^ فين اقرب|احكي لي|احكيلي',
  },
] // prettier-ignore

/** Names of languages: "in French", "للفرنسية". */
export const LANGUAGES =
  'english arabic french german spanish italian portuguese dutch turkish russian chinese japanese korean hindi urdu persian farsi hebrew ' +
  'polish swedish greek danish norwegian finnish indonesian malay swahili bengali thai vietnamese ukrainian ' +
  'عربي عربيه انجليزي انجليزيه انكليزي انكليزيه فرنسي فرنسيه فرنساوي الماني المانيه اسباني اسبانيه ايطالي ايطاليه تركي تركيه صيني صينيه ياباني يابانيه روسي روسيه اردو فارسي فارسيه'

/** What is called after a job and is none: "the screenshot tool", "translation software". */
export const THINGS =
  'instruction instructions settings details requirements tutorial documentation docs info information number address terms manual section tool tools software app apps device devices machine book books guide guides article page service services course station kit policy camera ' +
  'lens printer program system feature features keyboard industry company companies agency api plugin extension library paper study report'
