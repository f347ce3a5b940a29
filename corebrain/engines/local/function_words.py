"""Function words by language: what tells the language of a text, and what a query is better without.

The commonest articles, pronouns, prepositions, conjunctions and auxiliaries of each language, as they are written;
English is complete, since queries leave its words out. Codes are those of ISO 639-1.
"""

_ENGLISH = """
a about above after again all am an and any are aren as at be because been before being below between
both but by can could couldn d did didn do does doesn doing don down during each few for from further had
hadn has hasn have haven having he her here hers him his how i if in into is isn it its itself just ll m
me might more most must my no nor not now o of off on once only or other our ours out over own re s same
she should shouldn so some such t than that the their theirs them then there these they this those
through to too under until up ve very was wasn we were weren what when where which while who whom why
will with won would wouldn y you your yours
"""

_OTHERS = {
    "ca": """
        el la els les un una uns unes de del dels a al als amb per perquè que què qui és són era ser està estan hi ha
        i o no ni com quan on més molt aquest aquesta aquests aquestes seu seva meu meva nosaltres ells jo tu ell ella
    """,
    "cs": """
        a i o u v ve z ze na s se si je jsou byl byla bylo být že ale nebo jako jak kdy kde kdo co který která které
        pro při od do po za před mezi tak také už jen až ten ta to tento tato toto jeho její jejich mu mi já ty my vy
        není má mají může který aby když kolik jaký jaká jaké
    """,
    "da": """
        og i jeg det at en et den til er som på de med han af for ikke der var mig sig men har om vi min havde ham hun
        nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når være dog
        noget hvornår hvem hvilken hvilke hvordan hvorfor bliver kan efter ved også
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren sein
        hat haben hatte wird werden wurde wurden kann können muss müssen soll sollen darf ich du er sie es wir ihr mich
        mir dich uns euch ihm ihn ihnen mein dein seine ihre unser euer im in an am auf aus bei beim mit nach von vom
        vor zu zum zur über unter für gegen ohne durch um bis als wie wenn dass weil ob auch nur noch schon sehr so
        was wer wo wann warum welche welcher welches welchen wieviel viele viel dieser diese dieses diesen
    """,
    "el": """
        ο η το οι τα του της των τον την τους τις στο στη στην στον στα στις και ή αλλά δεν μη μην να θα που πως πώς
        είναι ήταν έχει έχουν με σε για από προς κατά μετά πριν όταν αν όπως τι ποιος ποια ποιο πού πότε πόσο αυτό
        αυτός αυτή αυτά ένα ένας μια μας σας τους μου σου
    """,  # noqa: RUF001  # letters of the language
    "es": """
        el la los las un una unos unas de del a al en con por para sin sobre entre desde hasta y e o u ni que qué
        quién quien cuál cuándo cuando dónde donde cómo como cuánto cuántos cuántas no sí es son era eran fue ser
        está están hay ha han había se su sus mi mis tu tus nuestro nuestra lo le les me te nos más muy también pero
        porque este esta esto estos estas ese esa eso aquel
    """,
    "et": """
        ja on ei see ta et kui mis kes oma ma me nad seda ka või aga siis ning oli selle pole olema saab kus millal
        kuidas miks mitu oleks kõik välja üks tema nende meie teie
    """,
    "fi": """
        ja on ei se että oli hän joka mutta tai kun niin kuin ovat minä sinä me te he tämä nämä mitä mikä missä milloin
        kuka miksi miten kuinka olla ole olen olet olemme myös sen siitä jos vain jo nyt voi hänen heidän
    """,
    "fr": """
        le la les l un une des du de d au aux et ou mais ni ne pas que qu qui quoi quel quelle quels quelles quand où
        comment combien pourquoi est sont était être sera a ont avait avoir ce cet cette ces c il elle ils elles on
        nous vous je j tu se s son sa ses leur leurs mon ma mes notre nos votre vos lui y en dans par pour avec sans
        sur sous entre vers chez plus très aussi comme si n m t
    """,
    "hi": """
        का के की को में से पर और या है हैं था थी थे हो होता होती होते कर करता करते किया गया गए यह ये वह वे इस उस इन उन
        जो तो भी ही नहीं कि क्या कौन कब कहाँ कैसे कितने कितना मैं हम आप तुम मेरा हमारा आपका ने तक लिए एक अपने अपना
    """,
    "hu": """
        a az és vagy de nem is hogy ez azt ezt ami aki amely mint van volt lesz vannak egy meg már csak még ha mert mi
        ki hol mikor hogyan miért mennyi hány én te ő mi ti ők a nekem neki el fel le be ki minden
    """,
    "id": """
        yang dan di ke dari untuk pada dengan ini itu adalah tidak akan atau juga oleh dalam sebagai bahwa saya kami
        kita anda mereka dia ada apa siapa kapan mana bagaimana mengapa berapa sudah telah bisa dapat karena jika
    """,
    "it": """
        il lo la i gli le l un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dalla in
        nel nella nei nelle con su sul sulla per tra fra e ed o ma non che chi cosa quale quali quando dove come quanto
        quanti perché è sono era essere ha hanno aveva si suo sua suoi sue mio mia nostro nostra questo questa questi
        queste quello quella più molto anche ci ne se lui lei noi voi loro io
    """,
    "lt": """
        ir yra kad su iš bet ar jis ji tai kaip kas kur kada kodėl kiek už per apie dėl nuo prie po ne jau dar tik
        buvo bus mes jūs jie šis ši mano jo jos
    """,
    "nl": """
        de het een en of maar niet geen is zijn was waren wordt worden werd heeft hebben had kan kunnen moet moeten zal
        zullen ik jij je hij zij ze wij we jullie hun hem haar mij ons mijn zijn onze deze dit die dat in op aan uit
        bij met naar van voor over onder tegen zonder door om tot als wat wie waar wanneer waarom hoe hoeveel welke
        welk ook nog al dan er te zo zeer
    """,
    "no": """
        og i jeg det at en et den til er som på de med han av for ikke der var meg seg men har om vi min hadde ham hun
        nå over da fra du ut sin dem oss opp man hans hvor eller hva skal selv her alle vil ble kunne inn når være
        noe hvem hvilken hvilke hvordan hvorfor blir kan etter ved også mot
    """,
    "pl": """
        i w we z ze na do od o u po za przed pod nad przy dla bez przez nie tak jest są był była było być że ale lub
        albo jak kiedy gdzie kto co który która które jaki jaka jakie ile się to ten ta te tego tej tym jego jej ich
        mój moja nasz nasza ja ty on ona my wy oni już tylko też może aby czy
    """,
    "pt": """
        o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às por pelo pela para com sem sobre entre
        até desde e ou mas não que quem qual quais quando onde como quanto quantos porque é são era foi ser está estão
        há tem têm se seu sua seus suas meu minha nosso nossa eu tu ele ela nós eles elas este esta isto esse essa isso
        mais muito também já
    """,
    "ro": """
        și si în din la de pe cu pentru prin sau dar nu este sunt era fi a fost are au că ca ce cine care când cand
        unde cum cât câți o un unei unui al ale lui ei lor eu tu el ea noi voi ele acest această acestea mai foarte
        și se îi îl
    """,
    "ru": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня
        еще нет о из ему когда ли если или ни быть был до вас уже там потом себя ей они тут где есть надо ней для мы
        их чем была сам без будто чего раз тоже себе под будет кто этот того потому этого какой какая какие сколько
        почему это при об эта эти
    """,  # noqa: RUF001  # letters of the language
    "sv": """
        och i jag det att en ett den till är som på de med han av för inte där var mig sig men har om vi min hade honom
        hon nu över då från du ut sin dem oss upp man hans vart eller vad ska själv här alla vill blev kunde in när
        vara något vem vilken vilka hur varför blir kan efter vid också mot
    """,
    "ta": """
        மற்றும் ஒரு இந்த அந்த என்று என்ற இது அது உள்ள அல்லது எந்த யார் எப்போது எங்கே எப்படி ஏன் என்ன அவர் அவர்கள் நான்
        நாம் நீங்கள் ஆகும் இல்லை
    """,
    "tr": """
        ve bir bu şu o da de ile için mi mı mu mü ne kim nerede nasıl niçin neden hangi kaç ama veya ya ki gibi daha en
        çok değil var yok olan olarak ben sen biz siz onlar benim senin onun bizim kadar sonra önce her ise
    """,  # noqa: RUF001  # letters of the language
    "fa": """
        و در به از که این آن را با است برای یا هم تا بر می شود شد بود نیست هر چه کی کجا چگونه چرا کدام چند من تو او ما
        شما آنها خود یک اگر اما
    """,
    "ar": """
        في من على إلى عن مع أن إن لا ما هو هي هم هذا هذه ذلك التي الذي الذين و أو ثم كان كانت يكون قد لم لن كل بين متى
        أين كيف لماذا كم أي هل نحن أنا أنت عند بعد قبل
    """,
}

FUNCTION_WORDS = {code: frozenset(words.split()) for code, words in (("en", _ENGLISH), *sorted(_OTHERS.items()))}
"""Function words in lower case, by language."""
