"""What sort of thing a noun of a caption names: a person, a vehicle, a place.

Knows single nouns, by WordNet's first sense and by a list of those whose first sense is another
than captions mean; nothing of sentences. Sorts are one character each:

    P person   A animal   G people together   V vehicle   C clothing   F food   B part of a body
    T other things that can be held or moved   L place, building, surface   N nature, substance
    M time   X what cannot be touched   I picture   ? unknown
"""

from functools import lru_cache

from meshcap.metrics.spice.lexicon import field

_SORT_OF_FIELD = {
    3: "T",
    4: "X",
    5: "A",
    6: "T",
    7: "X",
    8: "B",
    9: "X",
    10: "T",
    11: "X",
    12: "X",
    13: "F",
    14: "G",
    15: "L",
    16: "X",
    17: "L",
    18: "P",
    19: "N",
    20: "N",
    21: "X",
    22: "X",
    23: "X",
    24: "X",
    25: "X",
    26: "X",
    27: "N",
    28: "M",
}

_LISTED = """
P baseman biker bikers female individual kayaker male mans person skiier someone
P wakeboarder waterskier windsurfer womens
A animal boxer bunny crane creature dragon pitbull teddy tiger
G couple group others pack trio
V aircraft airliner airplane ambulance atv barge bicycle bike boat buggy bus cab canoe car
V carriage cart commuter double-decker engine ferry firetruck helicopter jeep jet jetliner kayak
V locomotive minivan moped motorbike motorboat motorcycle plane raft rollercoaster rowboat rv
V sailboat scooter semi ship skateboard ski skis sled snowboard subway surfboard suv taxi tractor
V trailer train tram transit tricycle trolley trolly truck tug van vehicle wagon
C apron attire backpack bandana bandanna bikini boot cap cloak clothes clothing coat collar
C costume dress gear glasses glove goggles gown harness hat headband headphone headphones helmet
C hoodie jacket jeans jersey kimono leash mask mitt muzzle necklace necktie outfit overalls
C pajamas pants robe sandal scarf shirt shoe shorts skirt sneaker sock suit sunglasses sweater
C sweatshirt swimsuit swimwear t-shirt tanktop tie top trunk trunks tutu tuxedo uniform vest
C wetsuit wig
F asparagus banana basil beef broccoli burger cake carrot cauliflower celery cherry chip corn crab
F cucumber doughnut egg fish food fruit fry garlic herb hotdog icing ingredient kiwi lettuce mango
F mushroom olive onion parsley peach pepper pineapple plum pumpkin sandwhich shrimp slice spinach
F sprout squash toppings turkey veggies watermelon zucchini
B beak feather fur horn mane marking paw spot stripe tail tusk
L air airport alley arena back background bag bakery bar barn base basket bathroom bathtub bed
L bedroom bench bowl box bridge building bush cabin cabinet cafe cage carpet case chair church
L classroom closet couch counter course court crib crosswalk cupboard curb deck desk diner dirt
L dish dock door doorway driveway enclosure farm fence floor foreground forest fridge garage
L garden grass grill gym hallway highway hotel house infield intersection kitchen kitchenette
L living lot mall marina market mat microwave mirror mound mountaintop mud museum office outfield
L oven pan path patio pen pier plate platform pool porch pot puddle rail railing ramp refrigerator
L restaurant rink road room rug runway sand shelf shelter shop shower sidewalk sink skatepark
L slide snow snowbank sofa stadium stage stair stairs stand station step steps store stove street
L suitcase table tarmac tent toilet tower trampoline tray tree tub tunnel urinal village wall
L water wave window wood woods yard zoo
T bat board controller disk flower glass hanger image kite light meter monitor mouse paper printer
T racket toaster
N fire hay plant sun
I close-up closeup drawing painting photo photograph picture portrait poster reflection screenshot
I selfie shadow shot silhouette view
M time
X air-trick direction match motion polo speed wheelie
"""


def _listed(text: str) -> dict[str, str]:
    lines = (line.split() for line in text.split("\n") if line)
    return {noun: sort for sort, *nouns in lines for noun in nouns}


_SORTS = _listed(_LISTED)


@lru_cache(maxsize=1 << 14)
def sort_of(noun: str) -> str:
    """The sort of a noun in its dictionary form."""
    listed = _SORTS.get(noun)
    if listed is not None:
        return listed
    if "-" in noun and noun.rsplit("-", 1)[1] in _SORTS:
        return _SORTS[noun.rsplit("-", 1)[1]]
    return _SORT_OF_FIELD.get(field(noun), "?")
